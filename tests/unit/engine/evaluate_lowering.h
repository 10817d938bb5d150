// SPDX-License-Identifier: Apache-2.0
// What a lowered model computes.
#pragma once

#include <functional>
#include <vector>

#include "hlo/hlo.h"
#include "lowering/lowering.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"

namespace tfaot::toolkit::testing {

// The outputs for these inputs, by XLA's evaluator. The weights are read from the model; `change`
// may replace their values.
inline Result<std::vector<xla::Literal>> evaluate(
    const engine::Lowering& lowering, const std::vector<xla::Literal>& inputs, std::int64_t rows,
    const std::function<void(xla::Literal&)>& change = nullptr) {
  TFAOT_ASSIGN(const auto lowered, lowering.lower(rows));
  TFAOT_ASSIGN(const auto module, engine::make_module(lowered.computation.proto()));
  std::vector<xla::Literal> arguments;
  for (const xla::Literal& input : inputs) arguments.push_back(input.Clone());
  for (const engine::RawWeight& weight : lowering.weights()) {
    TFAOT_ASSIGN(const auto value, weight.read());
    arguments.push_back(value->Clone());
    if (change) change(arguments.back());
  }
  xla::HloEvaluator evaluator;
  auto made = evaluator.Evaluate(*module, arguments);
  if (!made.ok()) return fail(engine::internal_error(made.status()));
  return made->DecomposeTuple();
}

// With zeros for all weights: what is left of an output comes from the code.
inline void set_to_zero(xla::Literal& weight) {
  weight = xla::Literal::CreateFromShape(weight.shape());
}

}  // namespace tfaot::toolkit::testing
