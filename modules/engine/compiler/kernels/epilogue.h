// SPDX-License-Identifier: Apache-2.0
// Operations that kernels apply to their results: activation functions (tfaot/kernels/abi.h)
// as HLO writes them, and the epilogue of products. Used by one thread.
#pragma once

#include <optional>

#include "compiler/hlo/hlo.h"
#include "compiler/hlo/weight_values.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

struct LayerFunction {
  kernels::Function function = kernels::kFunctionNone;
  double above = 1, below = 1;
  HloInstruction* result = nullptr;  // of the whole function

  kernels::ResultFunction of_kernel() const { return {function, above, below}; }
};

// The largest function of x that nothing else uses a part of; nothing if x is used as it is.
std::optional<LayerFunction> function_of(HloInstruction& x);

// gelu as a function of results.
constexpr kernels::Function function_of_form(kernels::GeluForm form) {
  return form == kernels::kGeluTanh ? kernels::kFunctionGeluTanh : kernels::kFunctionGelu;
}

// gelu of x, in one of its forms.
struct Gelu {
  HloInstruction* x;
  kernels::GeluForm form;
};
// Nothing for other values.
std::optional<Gelu> gelu_of(HloInstruction& result);

// Operations after a product that work column by column and can be done while results are in
// registers: scales and shifts of the columns (a bias, batch normalisation), the sum with another
// tensor (as around a block of layers), then a relu. Scales known ahead go into the weights.
struct Epilogue {
  HloInstruction* scale = nullptr;     // [columns], for the right-hand side; null: none
  HloInstruction* bias = nullptr;      // [columns]; null: none
  HloInstruction* row_bias = nullptr;  // [rows], in its place; null: none
  HloInstruction* addends = nullptr;   // as many as results, in their order; null: none
  bool relu = false;
  bool six = false;                // at most 6 after the relu
  HloInstruction* last = nullptr;  // the last absorbed instruction: the call replaces it

  std::int64_t word() const;  // of kernels::Epilogue
  // Adds the operands that come after a call's others.
  void add_operands(std::vector<HloInstruction*>& operands) const;
};

// The parts of an epilogue that a kernel can do.
struct EpilogueRoom {
  bool scale = false;  // the right-hand side is a weight
  bool sum = false;
  std::int64_t rows = 0;  // of each matrix, if it can add a bias for each of them
};

// Follows the only users of `result`, whose last dimensions are the product's columns. Adds the
// instructions for scale and bias.
Epilogue find_epilogue(HloInstruction& result, std::int64_t columns, EpilogueRoom room,
                       const WeightValues& values);

}  // namespace tfaot::toolkit::engine
