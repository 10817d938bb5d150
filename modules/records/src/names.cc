// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/names.h"

#include <algorithm>
#include <vector>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

std::vector<std::string> parts_of(const std::string& text, std::string_view separator) {
  return split_lines(replace_all(text, separator, "\n"));
}

bool is_path_part(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

}  // namespace

std::string default_tool_name(const std::string& model_name) {
  return "tfaot-model-" + replace_all(model_name, "_", "-");
}

bool is_reserved_tool_name(const std::string& name) {
  const std::string lower = lower_case(name);
  return lower == kRuntimeToolName || lower == "self";
}

bool is_dotted_version(const std::string& version) {
  const std::vector<std::string> parts = parts_of(version, ".");
  return !parts.empty() && parts.size() <= 4 && !version.ends_with('.') &&
         std::ranges::all_of(parts, [](const std::string& part) {
           return !part.empty() && std::ranges::all_of(part, is_digit);
         });
}

bool is_safe_name(std::string_view name) {
  return !name.empty() && (is_letter_or_digit(name.front()) || name.front() == '_') &&
         std::ranges::all_of(name, is_name_character);
}

bool is_package_path(std::string_view path) {
  for (;;) {
    const auto slash = path.find('/');
    if (!is_path_part(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

std::string processor_of(std::string_view target_triple) {
  return std::string(target_triple.substr(0, target_triple.find('-')));
}

std::string architecture_of(const std::string& target_triple) {
  const std::vector<std::string> parts = parts_of(target_triple, "-");
  // The vendor may be missing: "x86_64-linux-gnu".
  const bool has_vendor = parts.size() > 2 && parts[1] != "linux";
  const std::size_t system = has_vendor ? 2 : 1;
  return processor_of(target_triple) + "-" + (parts.size() > system ? parts[system] : "unknown");
}

}  // namespace tfaot::toolkit
