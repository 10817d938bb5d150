// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "tests/architecture/text_rules.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::architecture {
namespace {

struct Rule {
  std::vector<std::string_view> names;    // "()" at the end: only when called
  std::vector<std::string_view> allowed;  // beginnings of paths
  std::string_view instead;
};

const std::vector<Rule> kRules = {
    {{"getenv()", "secure_getenv()", "setenv()", "putenv()"},
     {"modules/cli/", "modules/runtime/src/"},
     "the environment belongs to cli: take the value as an argument"},
    {{"chdir()", "fchdir()"}, {}, "nobody changes the working directory: pass the folder"},
    {{"current_path()"}, {"modules/cli/"}, "the working directory belongs to cli: pass the folder"},
    {{"exit()", "_exit()", "_Exit()", "quick_exit()", "abort()", "terminate()"},
     {"modules/cli/src/main.cc", "modules/engine/main.cc", "modules/runner/src/main.cc",
      "modules/base/src/time_limit.cc"},
     "only main ends the process: return an Error"},
    {{"system()", "popen()", "fork()", "vfork()", "posix_spawn()", "posix_spawnp()", "execv()",
      "execvp()", "execve()"},
     {"modules/base/"},
     "processes belong to base: use run_process()"},
    {{"CpuAotCompilationOptions", "CpuAotCompilationResult"},
     {"modules/engine/compiler/code/object_code.cc"},
     "one file of the engine makes code for CPUs: compiler/code/object_code.cc"},
    {{"ifstream", "ofstream", "fstream", "fopen()"},
     {"modules/base/"},
     "files belong to base: use FileSystem"},
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// As a separate word, and neither a member ("spec.system") nor in an #include.
bool mentions(std::string_view line, std::string_view name) {
  if (line.find("#include") != std::string_view::npos) return false;
  const bool is_call = name.ends_with("()");
  if (is_call) name.remove_suffix(2);
  for (std::size_t at = 0; (at = line.find(name, at)) != std::string_view::npos;
       at += name.size()) {
    const char before = at == 0 ? ' ' : line[at - 1];
    const std::string_view after = line.substr(at + name.size());
    if (is_word(before) || before == '.' || before == '>') continue;
    if (is_call ? trim(after).starts_with('(') : after.empty() || !is_word(after[0])) return true;
  }
  return false;
}

}  // namespace

Violations check_calls(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!file.path.starts_with("modules/") || !is_cpp(file.path)) continue;
    int number = 0;
    for (const std::string& line : split_lines(without_comments_and_literals(file.text))) {
      ++number;
      for (const Rule& rule : kRules) {
        if (std::any_of(rule.allowed.begin(), rule.allowed.end(),
                        [&file](std::string_view start) { return file.path.starts_with(start); })) {
          continue;
        }
        for (const std::string_view name : rule.names) {
          if (!mentions(line, name)) continue;
          violations.push_back(fmt::format("{}:{}: {}: {}", file.path, number, name, rule.instead));
        }
      }
    }
  }
  return violations;
}

}  // namespace tfaot::toolkit::architecture
