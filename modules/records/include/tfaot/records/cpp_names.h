// SPDX-License-Identifier: Apache-2.0
// Names that a model's class and namespace may have in C++. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tfaot::toolkit {

struct TextProblem {
  std::string message;  // "'class' is a C++ keyword"
  std::string note;     // what to do
};

// Why a name cannot be used that is spelled "a" or "a::b". Each part must be free; the first one of
// a namespace must not be somebody else's.
std::optional<TextProblem> check_cpp_name(const std::string& name, bool is_namespace);

// A macro of a usual build: no header that uses the name compiles where the macro came first.
bool is_taken_macro(std::string_view name);
// A type, function or variable outside of all namespaces, such as 'size_t' or 'abs'.
bool is_taken_global(std::string_view name);

}  // namespace tfaot::toolkit
