// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/printable.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/scram/buildfile.h"

namespace tfaot::toolkit {
namespace {

// What the <flags> of a product mean.

enum class PluginFlag { kNotSaid, kNo, kYes };

// Flags for the compiler and the linker. REM_<name> removes flags from the compiler's tool and
// other tools, of which there are none here; it never removes the BuildFile's own flags.
constexpr std::array<std::string_view, 6> kCompilerFlags = {"CXXFLAGS", "CFLAGS",     "FFLAGS",
                                                            "CPPFLAGS", "CPPDEFINES", "LDFLAGS"};
// Read elsewhere, or without effect here.
constexpr std::array<std::string_view, 11> kKnownFlags = {
    "EDM_PLUGIN", "SKIP_FILES", "ADD_SUBDIR",      "NO_TESTRUN",      "TEST_RUNNER_ARGS", "SETENV",
    "PRE_TEST",   "NO_EXPORT",  "TEST_RUNNER_CMD", "NO_LIB_CHECKING", "DNN_NAME"};

std::string last_value(const std::vector<BuildFlag>& flags, const std::string& name) {
  std::string value;
  for (const BuildFlag& flag : flags) {
    if (flag.name == name) value = flag.value;
  }
  return value;
}

bool is_yes(const std::string& value) { return value == "1" || value == "yes" || value == "YES"; }

// All values of a flag, split at spaces.
std::vector<std::string> flag_words(const std::vector<BuildFlag>& flags, const std::string& name) {
  std::vector<std::string> words;
  for (const BuildFlag& flag : flags) {
    if (flag.name != name) continue;
    for (std::string& word : split_words(flag.value)) words.push_back(std::move(word));
  }
  return words;
}

Result<PluginFlag> plugin_flag(const std::string& file, const std::vector<BuildFlag>& flags) {
  PluginFlag said = PluginFlag::kNotSaid;
  for (const BuildFlag& flag : flags) {
    if (flag.name != "EDM_PLUGIN") continue;
    if (flag.value != "0" && flag.value != "1") {
      return fail(
          Error::at({file, flag.line}, fmt::format("EDM_PLUGIN is 0 or 1, not '{}'", flag.value)));
    }
    said = flag.value == "1" ? PluginFlag::kYes : PluginFlag::kNo;
  }
  return said;
}

// Applies the flags to `target`, except for the plugin flags; adds to `warnings`.
Status apply_flags(const std::string& file, const std::vector<BuildFlag>& flags,
                   BuildTarget& target, std::vector<std::string>& warnings) {
  for (const BuildFlag& flag : flags) {
    const std::string name = flag.name.starts_with("REM_") ? flag.name.substr(4) : flag.name;
    if (contains(kCompilerFlags, name) || contains(kKnownFlags, flag.name)) continue;
    add_new(warnings, fmt::format("{}:{}: the flag {} has no meaning outside of scram", file,
                                  flag.line, flag.name));
  }
  for (const std::string_view view : kCompilerFlags) {
    const std::string name(view);
    std::vector<std::string> words = flag_words(flags, name);
    if (!words.empty()) target.flags[name] = std::move(words);
  }
  target.skipped = flag_words(flags, "SKIP_FILES");
  target.sources_of_subfolders = is_yes(last_value(flags, "ADD_SUBDIR"));
  target.runs = !is_yes(last_value(flags, "NO_TESTRUN"));
  target.arguments = flag_words(flags, "TEST_RUNNER_ARGS");
  if (target.command.empty()) target.command = last_value(flags, "TEST_RUNNER_CMD");
  target.run_before = flag_words(flags, "PRE_TEST");
  for (const BuildFlag& flag : flags) {
    if (flag.name == "SETENV") target.environment.push_back(flag.value);
  }
  const std::vector<std::string> networks = flag_words(flags, "DNN_NAME");
  if (networks.size() > 1) {
    return fail(Error(fmt::format("{}: a product has one DNN_NAME, not {}", file, networks.size()))
                    .note("scram's rule makes only one of them; use <aot_compile> for more"));
  }
  if (networks.empty()) return {};
  target.dnn_name = networks.front();
  // Its header goes to a folder of this name in the build folder.
  if (target.dnn_name.find('/') == std::string::npos && target.dnn_name != "..") return {};
  return fail(Error(fmt::format("{}: DNN_NAME is a name without a folder, not '{}'", file,
                                shown(target.dnn_name)))
                  .note("the network lies in the folder of the sources"));
}

// What the file says for all products, then what the product says: scram's order.
BuildBlock joined(const BuildBlock& common, const BuildBlock& own) {
  BuildBlock all = common;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(all.uses, own.uses);
  append(all.flags, own.flags);
  append(all.libraries, own.libraries);
  append(all.include_paths, own.include_paths);
  append(all.models, own.models);
  return all;
}

class Planner {
 public:
  Planner(const BuildFile& file, const BuildPlace& place) : file_(file), place_(place) {
    plan_.file = file.file;
    plan_.warnings = file.warnings;
  }

  Result<BuildPlan> run() {
    if (place_.folder.empty()) {
      TFAOT_TRY(add_package());
    } else if (place_.folder == "plugins" && file_.products.empty()) {
      TFAOT_TRY(add_automatic_plugin());
    }
    for (const BuildProduct& product : file_.products) {
      if (place_.folder.empty()) {
        warn(product.line, fmt::format("'{}' is ignored: a package's own BuildFile makes one "
                                       "library; programs belong in bin or test",
                                       product.name));
        continue;
      }
      TFAOT_TRY(add_product(product));
    }
    if (!place_.folder.empty() && file_.has_export) {
      warn(0, "<export> has a meaning only in a package's own BuildFile");
    }
    return std::move(plan_);
  }

 private:
  void warn(int line, const std::string& text) {
    plan_.warnings.push_back(line == 0 ? fmt::format("{}: {}", file_.file, text)
                                       : fmt::format("{}:{}: {}", file_.file, line, text));
  }

  // "SubPkg" for "Sub/Pkg".
  std::string package_name() const { return replace_all(place_.package, "/", ""); }

  Status add(BuildTarget target, const BuildBlock& block) {
    for (const std::string& library : block.libraries) {
      if (library != "1" && library != target.name) target.libraries.push_back(library);
    }
    target.include_paths = block.include_paths;
    TFAOT_TRY(apply_flags(file_.file, block.flags, target, plan_.warnings));
    add_uses(target, block);
    for (const AotModel& model : block.models) {
      target.models.push_back(model.class_name);
      TFAOT_TRY(add_model(model));
    }
    plan_.targets.push_back(std::move(target));
    return {};
  }

  void add_uses(BuildTarget& target, const BuildBlock& block) {
    const auto kept_back = flag_words(block.flags, "NO_EXPORT");
    for (const BuildUse& use : block.uses) {
      const bool own = contains(kept_back, use.name);
      auto& uses = own || target.kind != TargetKind::kPackage ? target.private_uses : target.uses;
      if (!contains(uses, use.name, &BuildUse::name)) uses.push_back(use);
    }
  }

  // A model at the top of the file belongs to every product, but is made only once.
  Status add_model(const AotModel& model) {
    for (const AotModel& other : plan_.models) {
      if (other.class_name != model.class_name) continue;
      if (other.line == model.line) return {};
      return fail(Error::at({file_.file, model.line},
                            fmt::format("there is already a model '{}' on line {}",
                                        model.class_name, other.line))
                      .note("put it at the top of the file, outside of the products"));
    }
    plan_.models.push_back(model);
    return {};
  }

  // Without <export> and without <use>, scram makes no library from src; nor if src is empty.
  Status add_package() {
    BuildTarget target;
    target.name = package_name();
    const auto& exported = file_.exported_libraries;
    if (exported.size() > 1) {
      return fail(Error(fmt::format("{}: <export> names {} libraries, but a package has one",
                                    file_.file, exported.size())));
    }
    if (exported.size() == 1 && exported.front() != "1") target.name = exported.front();
    target.builds_library = file_.has_export || !file_.common.uses.empty();
    target.all_sources = true;
    return add(std::move(target), file_.common);
  }

  Status add_automatic_plugin() {
    TFAOT_ASSIGN(const PluginFlag flag, plugin_flag(file_.file, file_.common.flags));
    if (flag == PluginFlag::kNo) return {};
    if (file_.common.uses.empty()) {
      warn(0, "nothing is built: there is neither a <library> nor a <use>");
      return {};
    }
    BuildTarget target;
    target.kind = TargetKind::kPlugin;
    target.name = package_name() + "Auto";
    target.all_sources = true;
    return add(std::move(target), file_.common);
  }

  Status add_product(const BuildProduct& product) {
    const BuildBlock block = joined(file_.common, product.block);
    BuildTarget target;
    target.name = product.name;
    target.line = product.line;
    target.files = product.files;
    target.command = product.command;
    if (product.kind == ProductKind::kLibrary) {
      TFAOT_ASSIGN(const PluginFlag flag, plugin_flag(file_.file, block.flags));
      const bool by_folder = flag == PluginFlag::kNotSaid && place_.folder == "plugins";
      target.kind =
          flag == PluginFlag::kYes || by_folder ? TargetKind::kPlugin : TargetKind::kLibrary;
    } else if (place_.folder == "test") {
      target.kind = TargetKind::kTest;
    } else if (product.kind == ProductKind::kTest) {
      warn(product.line,
           fmt::format("the test '{}' is ignored: <test> has a meaning only in the folder test",
                       product.name));
      return {};
    } else {
      target.kind = TargetKind::kProgram;
    }
    return add(std::move(target), block);
  }

  const BuildFile& file_;
  const BuildPlace& place_;
  BuildPlan plan_;
};

}  // namespace

Result<BuildPlan> plan_build(const BuildFile& file, const BuildPlace& place) {
  return Planner(file, place).run();
}

}  // namespace tfaot::toolkit
