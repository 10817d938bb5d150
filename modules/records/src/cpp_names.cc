// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/cpp_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// Names that the standard headers use. tests/unit/records/cpp_names_test.cc asks the compiler and
// keeps the list up to date.
#include "taken_names.inc"

// Top-level namespaces that belong to other libraries.
constexpr std::array<std::string_view, 4> kForeignNamespaces = {"std", "posix", "main", "tfaot"};

// Members of the generated structs themselves (templates/model_header.h.mustache).
constexpr std::array<std::string_view, 7> kStructMembers = {
    "Inputs", "Outputs", "Sizes", "Offsets", "Types", "in_order", "kNames"};

std::string member_name(const std::string& tensor, std::string_view kind, std::size_t position) {
  std::string name;
  for (const char c : tensor) {
    const char taken = is_letter_or_digit(c) ? c : '_';
    // Two underscores, or one in front, are for the compiler.
    if (taken != '_' || (!name.empty() && name.back() != '_')) name += taken;
  }
  if (name.ends_with('_')) name.pop_back();
  if (name.empty()) return fmt::format("{}_{}", kind, position);
  if (is_digit(name[0])) return fmt::format("{}_{}", kind, name);
  const bool used = is_cpp_keyword(name) || is_taken_macro(name) || name.starts_with("TFAOT_") ||
                    std::ranges::count(kStructMembers, name) > 0;
  return used ? name + "_" : name;
}

}  // namespace

std::optional<TextProblem> check_cpp_name(const std::string& name, bool is_namespace) {
  const std::vector<std::string> parts = split_lines(replace_all(name, "::", "\n"));
  if (is_namespace && std::ranges::count(kForeignNamespaces, parts[0]) > 0) {
    return TextProblem{fmt::format("the namespace '{}' is taken", parts[0]),
                       "'std', 'posix' and 'main' belong to C++, 'tfaot' to the runtime"};
  }
  if (is_namespace && is_taken_global(parts[0])) {
    return TextProblem{fmt::format("'{}' is a name in C++'s standard headers", parts[0]),
                       "choose another name"};
  }
  for (const std::string& part : parts) {
    if (is_cpp_keyword(part)) {
      return TextProblem{fmt::format("'{}' is a C++ keyword", part), "choose another name"};
    }
    if (!is_cpp_identifier(part)) {
      return TextProblem{fmt::format("'{}' is reserved in C++", part),
                         "names must not start with '__', nor with '_' and a capital letter"};
    }
    if (is_taken_macro(part) || part.starts_with("TFAOT_")) {
      return TextProblem{fmt::format("'{}' is a macro in C++ builds", part), "choose another name"};
    }
  }
  return std::nullopt;
}

bool is_taken_macro(std::string_view name) { return is_one_of(kTakenMacros, name); }
bool is_taken_global(std::string_view name) { return is_one_of(kTakenGlobals, name); }

std::vector<std::string> member_names(const std::vector<std::string>& tensors,
                                      std::string_view kind) {
  std::vector<std::string> names(tensors.size());
  std::set<std::string> taken;
  for (const bool own : {true, false}) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::string name = member_name(tensors[i], kind, i);
      if ((name == tensors[i]) != own) continue;
      const char* separator = name.ends_with('_') ? "" : "_";  // never two
      names[i] = name;
      for (int n = 2; !taken.insert(names[i]).second; ++n) {
        names[i] = fmt::format("{}{}{}", name, separator, n);
      }
    }
  }
  return names;
}

}  // namespace tfaot::toolkit
