// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/fixed_values.h"

#include <algorithm>

#include "compiler/hlo/evaluate.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr std::int64_t kMostFixedElements = std::int64_t{1} << 24;

}  // namespace

bool FixedValues::is_fixed(const HloInstruction& value) {
  const auto known = known_.find(&value);
  if (known != known_.end()) return known->second;
  bool is = value.shape().IsArray() && !value.HasSideEffect() &&
            xla::ShapeUtil::ElementsIn(value.shape()) <= kMostFixedElements;
  switch (value.opcode()) {
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
      break;
    case HloOpcode::kParameter:
    case HloOpcode::kCustomCall:
    case HloOpcode::kRng:
    case HloOpcode::kRngBitGenerator:
    case HloOpcode::kWhile:
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
      is = false;
      break;
    default:
      is = is && value.operand_count() > 0 &&
           std::all_of(value.operands().begin(), value.operands().end(),
                       [&](const HloInstruction* operand) { return is_fixed(*operand); });
  }
  return known_[&value] = is;
}

Result<xla::Literal> FixedValues::value(const HloInstruction& fixed, xla::PrimitiveType type) {
  Evaluator evaluator([](const HloInstruction& parameter) -> Result<Value> {
    return fail(Error::internal("a parameter has no value: " + std::string(parameter.name())));
  });
  TFAOT_ASSIGN(const auto value, evaluator.value(fixed));
  auto made = value->Convert(type);
  if (!made.ok()) return fail(internal_error(made.status()));
  return std::move(*made);
}

}  // namespace tfaot::toolkit::engine
