// SPDX-License-Identifier: Apache-2.0
// Computes instructions, mostly those that depend only on weights and constants. Used by one
// thread.
#pragma once

#include <functional>
#include <map>

#include "compiler/hlo/hlo.h"
#include "compiler/hlo/lowering.h"
#include "tfaot/base/file_system.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

// Elements of a tensor along one dimension.
struct Cut {
  std::int64_t dimension = 0, start = 0, size = 0;
};

class Evaluator {
 public:
  // The value of a parameter of the entry computation.
  using Parameters = std::function<Result<Value>(const HloInstruction&)>;

  explicit Evaluator(Parameters parameters) : parameters_(std::move(parameters)) {}

  Result<Value> value(const HloInstruction& instruction);

  // Passes its bytes on in pieces, so that only its operands are in memory as a whole.
  Status feed(const HloInstruction& instruction, const ChunkSink& sink);
  // The same operation on other operands, for a result of this shape.
  Result<Value> compute_on(const HloInstruction& instruction, const xla::Shape& shape,
                           const std::vector<Value>& operands);

 private:
  Result<Value> evaluate(const HloInstruction& instruction);
  Result<Value> piece(const HloInstruction& one, const Cut& cut);

  Result<Value> compute(const HloInstruction& instruction, const std::vector<Value>& values);

  Parameters parameters_;
  std::map<const HloInstruction*, Value> evaluated_;
  static constexpr std::int64_t kMostTurns = 1 << 16;  // of a loop, which may not end
  xla::HloEvaluator evaluator_{kMostTurns};
};

// Values that depend on the program alone, neither on inputs nor on weights. Used by one thread.
class FixedValues {
 public:
  // False also for values that are too large to look at. Instructions must not change afterwards.
  bool is_fixed(const HloInstruction& value);
  // REQUIRES: is_fixed(). Converted to another type.
  static Result<xla::Literal> value(const HloInstruction& fixed, xla::PrimitiveType type);

 private:
  std::map<const HloInstruction*, bool> known_;
};

}  // namespace tfaot::toolkit::engine
