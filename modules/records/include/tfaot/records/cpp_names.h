// SPDX-License-Identifier: Apache-2.0
// Names that a model's class and namespace may have in C++, and those that its tensors get there.
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfaot::toolkit {

struct TextProblem {
  std::string message;  // "'class' is a C++ keyword"
  std::string note;     // what to do
};

// Why a name of the form "a" or "a::b" cannot be used. Each part must be a free name; the first
// part of a namespace must not belong to a known library.
std::optional<TextProblem> check_cpp_name(const std::string& name, bool is_namespace);

// A macro that usual builds define. If it is defined before a header that uses the name, the header
// does not compile.
bool is_taken_macro(std::string_view name);
// A type, function or variable in the global namespace, such as 'size_t' or 'abs'.
bool is_taken_global(std::string_view name);

// The names of a model's inputs, or outputs, as members of a C++ struct: in their order, all
// different, whatever the tensors are called. `kind` is "input" or "output".
//   - All but ASCII letters, digits and '_' becomes '_', of several '_' one is left, and none at
//   the
//     ends: "serving/x.0:1" -> "serving_x_0_1". So a name of that form stays.
//   - A digit in front gets the kind: "495" -> "output_495". Where nothing is left, the kind and
//   the
//     position are the name: "input_0".
//   - What C++ or the struct itself uses gets a '_' at the end: "class" -> "class_".
//   - Of equal names one stays: that of a tensor which is called so, else the first one. The others
//     get "_2", "_3" and so on, in order, the first that is free.
std::vector<std::string> member_names(const std::vector<std::string>& tensors,
                                      std::string_view kind);

}  // namespace tfaot::toolkit
