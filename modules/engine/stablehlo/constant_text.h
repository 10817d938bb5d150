// SPDX-License-Identifier: Apache-2.0
// Large constants in a module's text (mlir_text.h), which become weights. Pure functions.
#pragma once

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

// The text with calls in place of the constants (hlo/constant_calls.h).
struct LiftedText {
  std::string text;
  std::vector<ConstantText> constants;  // places in the original text
};
LiftedText lift_constants(std::string_view text);

}  // namespace tfaot::toolkit::engine
