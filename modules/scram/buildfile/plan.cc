// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "buildfile/plan_flags.h"
#include "tfaot/base/text.h"
#include "tfaot/scram/buildfile.h"

namespace tfaot::toolkit {
namespace {

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
      const bool own = std::find(kept_back.begin(), kept_back.end(), use.name) != kept_back.end();
      auto& uses = own || target.kind != TargetKind::kPackage ? target.private_uses : target.uses;
      const bool twice = std::any_of(uses.begin(), uses.end(), [&use](const BuildUse& other) {
        return other.name == use.name;
      });
      if (!twice) uses.push_back(use);
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
