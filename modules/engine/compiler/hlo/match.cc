// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/match.h"

#include <algorithm>
#include <cmath>

#include "compiler/hlo/build.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;
using xla::HloOpcode;

namespace {

std::optional<double> number_in(const HloInstruction& value, int steps) {
  const HloInstruction* inner = &value;
  while (inner->opcode() == HloOpcode::kBroadcast || inner->opcode() == HloOpcode::kReshape ||
         inner->opcode() == HloOpcode::kConvert) {
    inner = inner->operand(0);
  }
  if (elements_of(*inner) != 1) return {};
  if (inner->opcode() == HloOpcode::kConstant) {
    const auto wide = inner->literal().Convert(xla::F64);
    if (!wide.ok()) return {};
    return wide->data<double>()[0];
  }
  const HloOpcode opcode = inner->opcode();
  const bool is_computed = opcode == HloOpcode::kAdd || opcode == HloOpcode::kLog ||
                           opcode == HloOpcode::kMultiply || opcode == HloOpcode::kNegate;
  if (steps == 0 || !is_computed) return {};
  const auto number = number_in(*inner->operand(0), steps - 1);
  if (!number) return {};
  if (opcode == HloOpcode::kLog) return std::log(*number);
  if (opcode == HloOpcode::kNegate) return -*number;
  const auto other = number_in(*inner->operand(1), steps - 1);
  if (!other) return {};
  return opcode == HloOpcode::kAdd ? *number + *other : *number * *other;
}

bool is_view(const HloInstruction& value) {
  return value.opcode() == HloOpcode::kReshape || value.opcode() == HloOpcode::kBitcast;
}

// The number that a reduction by this opcode may begin with.
bool changes_nothing(const HloInstruction& start, HloOpcode opcode) {
  if (opcode == HloOpcode::kAdd) return number_of(start) == 0;
  return start.opcode() == HloOpcode::kConstant &&
         start.literal() == xla::LiteralUtil::MinValue(start.shape().element_type());
}

}  // namespace

std::optional<double> number_of(const HloInstruction& value) {
  constexpr int kMostSteps = 3;
  return number_in(value, kMostSteps);
}

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::abs(b); }

std::optional<WithNumber> with_number(const HloInstruction& value, HloOpcode opcode) {
  if (value.opcode() != opcode) return {};
  for (const int i : {0, 1}) {
    if (const auto number = number_of(*value.operand(i))) {
      return WithNumber{value.operands()[static_cast<std::size_t>(1 - i)], *number};
    }
  }
  return {};
}

HloInstruction* other_operand(const HloInstruction& value, HloOpcode opcode,
                              const HloInstruction* x) {
  if (value.opcode() != opcode) return nullptr;
  for (const int i : {0, 1}) {
    if (value.operand(i) == x) return value.operands()[static_cast<std::size_t>(1 - i)];
  }
  return nullptr;
}

HloInstruction* squared(const HloInstruction& value) {
  const bool is_power = value.opcode() == HloOpcode::kPower && number_of(*value.operand(1)) == 2;
  const bool is_product =
      value.opcode() == HloOpcode::kMultiply && value.operand(0) == value.operand(1);
  return is_power || is_product ? value.operands()[0] : nullptr;
}

HloInstruction* before_reshapes(HloInstruction* value) {
  while (is_view(*value)) value = value->mutable_operand(0);
  return value;
}

const HloInstruction* before_reshapes(const HloInstruction* value) {
  while (is_view(*value)) value = value->operand(0);
  return value;
}

HloInstruction* before_own_reshapes(HloInstruction* value) {
  while (is_view(*value) && value->user_count() == 1) value = value->mutable_operand(0);
  return value;
}

HloInstruction* only_user(const HloInstruction& value) {
  return value.user_count() == 1 && !value.IsRoot() ? value.users().front() : nullptr;
}

HloInstruction* after_reshapes(HloInstruction* value) {
  for (;;) {
    HloInstruction* const user = only_user(*value);
    if (user == nullptr || !is_view(*user)) return value;
    value = user;
  }
}

bool combines_by(const HloInstruction& reduction, HloOpcode opcode) {
  if ((reduction.opcode() != HloOpcode::kReduce &&
       reduction.opcode() != HloOpcode::kReduceWindow) ||
      reduction.operand_count() != 2 || elements_of(reduction) == 0 ||
      elements_of(*reduction.operand(0)) == 0) {
    return false;
  }
  const HloInstruction& root = *reduction.to_apply()->root_instruction();
  return root.opcode() == opcode && root.operand(0)->opcode() == HloOpcode::kParameter &&
         root.operand(1)->opcode() == HloOpcode::kParameter && root.operand(0) != root.operand(1);
}

bool reduces_by(const HloInstruction& reduction, HloOpcode opcode) {
  return combines_by(reduction, opcode) && changes_nothing(*reduction.operand(1), opcode);
}

std::optional<MatrixProduct> matrix_product(const HloInstruction& dot) {
  if (dot.opcode() != HloOpcode::kDot || dot.operand(1)->shape().rank() != 2) return {};
  const auto& numbers = dot.dot_dimension_numbers();
  if (numbers.lhs_batch_dimensions_size() != 0 || numbers.lhs_contracting_dimensions_size() != 1) {
    return {};
  }
  return MatrixProduct{dot.operands()[0], dot.operands()[1], numbers.lhs_contracting_dimensions(0),
                       numbers.rhs_contracting_dimensions(0)};
}

std::int64_t first_column_dimension(const xla::Shape& shape, std::int64_t columns) {
  std::int64_t size = 1;
  std::int64_t dimension = shape.rank();
  while (dimension > 0 && size < columns) size *= shape.dimensions(static_cast<int>(--dimension));
  return size == columns ? dimension : -1;
}

HloInstruction* column_values(HloInstruction* value, const xla::Shape& shape,
                              std::int64_t columns) {
  if (value->opcode() != HloOpcode::kBroadcast) {
    // Only of one row; without the reshapes, as for more rows, so that all sizes of a batch share
    // what is computed from them.
    if (xla::ShapeUtil::ElementsIn(shape) != columns) return nullptr;
    return reshape(before_reshapes(value), {columns});
  }
  HloInstruction* inner = value->mutable_operand(0);
  const std::int64_t size = elements_of(*inner);
  if (size == 1) return broadcast(reshape(inner, {}), {columns}, {});
  const std::int64_t first = first_column_dimension(shape, columns);
  if (size != columns || first < 0) return nullptr;
  // The broadcast may leave out dimensions of size 1.
  for (const auto dimension : value->dimensions()) {
    if (dimension < first && shape.dimensions(static_cast<int>(dimension)) > 1) return nullptr;
  }
  return std::ranges::is_sorted(value->dimensions()) ? reshape(inner, {columns}) : nullptr;
}

std::int64_t elements_of(const HloInstruction& value) {
  return value.shape().IsArray() ? xla::ShapeUtil::ElementsIn(value.shape()) : 0;
}

bool is_float32(const HloInstruction& value) {
  return value.shape().IsArray() && value.shape().element_type() == xla::F32;
}

bool is_for_kernels(const HloInstruction& value) {
  return value.shape().IsArray() && has_kernels(value.shape().element_type()) &&
         elements_of(value) > 0;
}

}  // namespace tfaot::toolkit::engine
