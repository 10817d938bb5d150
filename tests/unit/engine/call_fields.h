// SPDX-License-Identifier: Apache-2.0
// The structs of kernel calls by the names of their members. The names, and the numbers that
// enumerators stand for, are read from the text of tfaot/kernels/abi.h, so no copy can go stale.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::testing {

struct CallField {
  std::string name;  // "window.size"
  std::vector<double> values;
};

// The members of the call's struct, then those of the structs that follow it ("layer.0.columns"),
// then its function, if it has one as an operand ("function.kind").
std::vector<CallField> call_fields(const engine::HloInstruction& kernel);

// True if there is such a kernel ("matmul"), and calls of it may have the member.
bool is_kernel(std::string_view kernel);
bool is_call_field(std::string_view kernel, std::string_view field);

// "3", "0.5", "kEpilogueBias+kEpilogueRelu"
std::optional<double> call_number(std::string_view text);

// The 64-bit words of a struct of abi.h by its text; 0: not all of its members are such words.
std::size_t words_of_struct(const std::string& name);

}  // namespace tfaot::toolkit::testing
