// SPDX-License-Identifier: Apache-2.0
#include "taken_names.h"

#include <set>

namespace tfaot::toolkit::config {
namespace {

// Kept by tests/unit/config/taken_names_test.cc, which asks the compiler.
#include "taken_names.inc"

std::set<std::string_view> words_of(std::string_view text) {
  std::set<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    words.insert(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

}  // namespace

bool is_taken_macro(std::string_view name) {
  static const std::set<std::string_view> macros = words_of(kTakenMacros);
  return macros.count(name) > 0;
}

bool is_taken_global(std::string_view name) {
  static const std::set<std::string_view> globals = words_of(kTakenGlobals);
  return globals.count(name) > 0;
}

}  // namespace tfaot::toolkit::config
