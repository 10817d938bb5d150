// SPDX-License-Identifier: Apache-2.0
// What a lowered model computes.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "compiler/hlo/lowering.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal_util.h"

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

struct MadeOfRow {
  std::vector<std::string> weights;
  std::vector<float> output;     // the first three for 1, 1, 1 ...
  std::vector<float> from_code;  // the same with weights of zeros
};
// Of a model with an input of rows of 16; a failure fails the test.
inline MadeOfRow made_of_row(const engine::Lowering& lowering) {
  MadeOfRow made;
  for (const engine::RawWeight& weight : lowering.weights()) made.weights.push_back(weight.name);
  std::vector<xla::Literal> inputs;
  inputs.push_back(xla::LiteralUtil::CreateFullWithDescendingLayout<float>({2, 16}, 1));
  for (const bool is_zero : {false, true}) {
    const auto outputs = evaluate(lowering, inputs, 2, is_zero ? set_to_zero : nullptr);
    if (!outputs) {
      ADD_FAILURE() << outputs.error().text();
      return made;
    }
    const auto values = outputs->front().data<float>();
    (is_zero ? made.from_code : made.output).assign(values.begin(), values.begin() + 3);
  }
  return made;
}

}  // namespace tfaot::toolkit::testing
