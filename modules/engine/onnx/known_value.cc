// SPDX-License-Identifier: Apache-2.0
#include "onnx/known_value.h"

#include "hlo/hlo.h"
#include "tfaot/base/limits.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"

namespace tfaot::toolkit::engine {
namespace {

// Constants are there already.
bool is_small_enough(const xla::XlaComputation& computation) {
  std::int64_t elements = 0;
  for (const auto& one : computation.proto().computations()) {
    for (const auto& instruction : one.instructions()) {
      if (instruction.opcode() == "constant") continue;
      const xla::Shape shape(instruction.shape());
      if (shape.IsArray()) elements += xla::ShapeUtil::ElementsIn(shape);
      if (elements > kMostKnownElements) return false;
    }
  }
  return true;
}

}  // namespace

bool is_computed_of_constants(xla::XlaOp op) {
  const auto constant = op.builder()->IsConstant(op);
  return constant.ok() && *constant;
}

Result<std::optional<xla::Literal>> known_value(xla::XlaOp op) {
  const auto constant = op.builder()->IsConstant(op);
  if (!constant.ok()) return fail(internal_error(constant.status()));
  if (!*constant) return std::optional<xla::Literal>();
  const auto computation = op.builder()->BuildConstantSubGraph(op);
  if (!computation.ok()) return fail(internal_error(computation.status()));
  if (!is_small_enough(*computation)) return std::optional<xla::Literal>();
  TFAOT_ASSIGN(auto value, value_of_constants(*computation));
  return std::optional<xla::Literal>(std::move(value));
}

Result<xla::Literal> value_of_constants(const xla::XlaComputation& computation) {
  TFAOT_ASSIGN(const auto module, make_module(computation.proto()));
  xla::HloEvaluator evaluator;
  auto value = evaluator.Evaluate(*module, {});
  if (!value.ok()) return fail(internal_error(value.status()));
  return *std::move(value);
}

}  // namespace tfaot::toolkit::engine
