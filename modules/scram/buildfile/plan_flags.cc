// SPDX-License-Identifier: Apache-2.0
#include "buildfile/plan_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "grammar/words.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit {
namespace {

// Flags for the compiler and the linker. REM_<name> removes flags from the compiler's tool and
// other tools, of which there are none here; it never removes the BuildFile's own flags.
constexpr std::array<std::string_view, 6> kCompilerFlags = {"CXXFLAGS", "CFLAGS",     "FFLAGS",
                                                            "CPPFLAGS", "CPPDEFINES", "LDFLAGS"};
// Read elsewhere, or without effect here.
constexpr std::array<std::string_view, 11> kKnownFlags = {
    "EDM_PLUGIN", "SKIP_FILES", "ADD_SUBDIR",      "NO_TESTRUN",      "TEST_RUNNER_ARGS", "SETENV",
    "PRE_TEST",   "NO_EXPORT",  "TEST_RUNNER_CMD", "NO_LIB_CHECKING", "DNN_NAME"};

template <class List>
bool holds(const List& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string last_value(const std::vector<BuildFlag>& flags, const std::string& name) {
  std::string value;
  for (const BuildFlag& flag : flags) {
    if (flag.name == name) value = flag.value;
  }
  return value;
}

bool is_yes(const std::string& value) { return value == "1" || value == "yes" || value == "YES"; }

}  // namespace

std::vector<std::string> flag_words(const std::vector<BuildFlag>& flags, const std::string& name) {
  std::vector<std::string> words;
  for (const BuildFlag& flag : flags) {
    if (flag.name != name) continue;
    for (std::string& word : words_of(flag.value, kBlanks)) words.push_back(std::move(word));
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

Status apply_flags(const std::string& file, const std::vector<BuildFlag>& flags,
                   BuildTarget& target, std::vector<std::string>& warnings) {
  for (const BuildFlag& flag : flags) {
    const std::string name = flag.name.starts_with("REM_") ? flag.name.substr(4) : flag.name;
    if (holds(kCompilerFlags, name) || holds(kKnownFlags, flag.name)) continue;
    const std::string warning = fmt::format("{}:{}: the flag {} has no meaning outside of scram",
                                            file, flag.line, flag.name);
    if (!holds(warnings, warning)) warnings.push_back(warning);
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

}  // namespace tfaot::toolkit
