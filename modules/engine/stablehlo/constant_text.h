// SPDX-License-Identifier: Apache-2.0
// Large constants in a module's text (mlir_text.h), which become weights. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stablehlo/mlir_scan.h"

namespace tfaot::toolkit::engine {

struct ConstantText {
  std::size_t value = 0;  // where "dense<...>" starts
  std::size_t size = 0;   // of it
  TensorText type;
};

// The text with calls of constant_call(i) in place of constants[i]. XLA can then neither fold nor
// merge them, nor move them into loops.
struct LiftedText {
  std::string text;
  std::vector<ConstantText> constants;  // places in the original text
};
LiftedText lift_constants(std::string_view text);

std::string constant_call(std::size_t constant);
// Nothing for calls of other functions.
std::optional<std::size_t> constant_of_call(std::string_view target);

}  // namespace tfaot::toolkit::engine
