// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <regex>

#include "tests/architecture/text_rules.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::architecture {
namespace {

struct Ban {
  std::regex pattern;
  std::string what;
  std::string instead;
};

std::regex command(const std::string& name) {
  return std::regex("^\\s*" + name + "\\s*\\(", std::regex::icase);
}
std::regex anywhere(const std::string& pattern) { return std::regex(pattern, std::regex::icase); }

const std::vector<Ban> kBans = {
    {anywhere("\\bCMAKE_SOURCE_DIR\\b"), "CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"},
    {anywhere("\\bCMAKE_BINARY_DIR\\b"), "CMAKE_BINARY_DIR", "PROJECT_BINARY_DIR"},
    {command("include_directories"), "include_directories()", "target_include_directories()"},
    {command("link_directories"), "link_directories()", "imported targets"},
    {command("link_libraries"), "link_libraries()", "target_link_libraries()"},
    {command("add_definitions"), "add_definitions()", "target_compile_definitions()"},
    {command("add_compile_definitions"), "add_compile_definitions()",
     "target_compile_definitions()"},
    {command("add_compile_options"), "add_compile_options()", "target_compile_options()"},
    {command("aux_source_directory"), "aux_source_directory()", "a list of the sources"},
    {command("macro"), "macro()", "function()"},
};

// Scripts for "cmake -P" glob build products, never sources; they declare no target.
bool declares_targets(const SourceFile& file) {
  const std::regex target("\\badd_(library|executable|custom_target)\\s*\\(");
  return file.path.ends_with("CMakeLists.txt") || std::regex_search(file.text, target);
}

}  // namespace

Violations check_cmake_commands(const SourceTree& tree) {
  const std::regex globs("\\bfile\\s*\\(\\s*GLOB", std::regex::icase);
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!is_cmake(file.path)) continue;
    int number = 0;
    for (const std::string& line : split_lines(file.text)) {
      ++number;
      const std::string code = line.substr(0, line.find('#'));
      const auto report = [&](const std::string& what, const std::string& instead) {
        violations.push_back(
            fmt::format("{}:{}: {} is banned: use {}", file.path, number, what, instead));
      };
      for (const Ban& ban : kBans) {
        if (std::regex_search(code, ban.pattern)) report(ban.what, ban.instead);
      }
      if (std::regex_search(code, globs) && declares_targets(file)) {
        report("file(GLOB)", "a list of the sources");
      }
    }
  }
  return violations;
}

}  // namespace tfaot::toolkit::architecture
