// SPDX-License-Identifier: Apache-2.0
// Operations after a product that work column by column and can be done while results are in
// registers: scales and shifts of the columns (a bias, batch normalisation), then a relu. Scales
// known ahead go into the weights. Used by one thread.
#pragma once

#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

struct Epilogue {
  xla::HloInstruction* scale = nullptr;  // [columns], for the right-hand side; null: none
  xla::HloInstruction* bias = nullptr;   // [columns]; null: none
  bool relu = false;
  bool six = false;                     // at most 6 after the relu
  xla::HloInstruction* last = nullptr;  // the last absorbed instruction: the call replaces it

  std::int64_t word() const;  // of kernels::Epilogue
};

// Follows the only users of `result`, whose last dimensions are the product's columns. With
// `can_scale` the right-hand side is a weight. Adds the instructions for scale and bias.
Epilogue find_epilogue(xla::HloInstruction& result, std::int64_t columns, bool can_scale,
                       const WeightValues& values);

}  // namespace tfaot::toolkit::engine
