// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/match.h"

#include <cmath>

#include "compiler/hlo/build.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {

namespace {

std::optional<double> number_in(const HloInstruction& value, int steps) {
  const HloInstruction* inner = &value;
  while (inner->opcode() == kBroadcast || inner->opcode() == kReshape ||
         inner->opcode() == kConvert) {
    inner = inner->operand(0);
  }
  if (elements_of(*inner) != 1) return {};
  if (inner->opcode() == kConstant) {
    const auto wide = inner->literal().Convert(xla::F64);
    if (!wide.ok()) return {};
    return wide->data<double>()[0];
  }
  const HloOpcode opcode = inner->opcode();
  const bool is_computed =
      opcode == kAdd || opcode == kLog || opcode == kMultiply || opcode == kNegate;
  if (steps == 0 || !is_computed) return {};
  const auto number = number_in(*inner->operand(0), steps - 1);
  if (!number) return {};
  if (opcode == kLog) return std::log(*number);
  if (opcode == kNegate) return -*number;
  const auto other = number_in(*inner->operand(1), steps - 1);
  if (!other) return {};
  return opcode == kAdd ? *number + *other : *number * *other;
}

bool is_reshape(const HloInstruction& value) {
  return value.opcode() == kReshape || value.opcode() == kBitcast;
}

// The dimensions that have more than one element.
Dimensions sized(const HloInstruction& value, Dimensions dimensions) {
  std::erase_if(dimensions, [&](std::int64_t d) { return size_of(value, d) == 1; });
  return dimensions;
}

// The number that a reduction by this opcode may begin with.
bool changes_nothing(const HloInstruction& start, HloOpcode opcode) {
  if (opcode == kAdd) return number_of(start) == 0;
  return start.opcode() == kConstant &&
         start.literal() == xla::LiteralUtil::MinValue(type_of(start));
}

HloInstruction* before_forms(HloInstruction* value) {
  for (;;) {
    HloInstruction* const inner = before_reshapes(value);
    if (inner->opcode() != kConvert) return inner;
    value = inner->mutable_operand(0);
  }
}

}  // namespace

std::optional<double> number_of(const HloInstruction& value) {
  constexpr int kMostSteps = 3;
  return number_in(value, kMostSteps);
}

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::abs(b); }

HloInstruction* other_operand(const HloInstruction& value, HloOpcode opcode,
                              const HloInstruction* x) {
  if (value.opcode() != opcode) return nullptr;
  for (const int i : {0, 1}) {
    if (value.operand(i) == x) return entry(value.operands(), 1 - i);
  }
  return nullptr;
}

HloInstruction* squared(const HloInstruction& value) {
  const bool is_power = value.opcode() == kPower && number_of(*value.operand(1)) == 2;
  const bool is_product = value.opcode() == kMultiply && value.operand(0) == value.operand(1);
  return is_power || is_product ? value.operands()[0] : nullptr;
}

HloInstruction* before_reshapes(HloInstruction* value) {
  while (is_reshape(*value)) value = value->mutable_operand(0);
  return value;
}

const HloInstruction* before_reshapes(const HloInstruction* value) {
  while (is_reshape(*value)) value = value->operand(0);
  return value;
}

std::optional<Dimensions> before_reshape(const HloInstruction& value) {
  if (value.opcode() != kReshape) return {};
  Dimensions map(dimensions_of(value).size(), kSpread);
  for (const ReshapeGroup& group : groups_of(value)) {
    const auto from = sized(*value.operand(0), group.from), to = sized(value, group.to);
    if (from.size() > 1 || from.size() != to.size()) return {};
    if (!to.empty()) entry(map, to.front()) = from.front();
  }
  return map;
}

HloInstruction* before_own_reshapes(HloInstruction* value) {
  while (is_reshape(*value) && value->user_count() == 1) value = value->mutable_operand(0);
  return value;
}

HloInstruction* only_user(const HloInstruction& value) {
  return value.user_count() == 1 && !value.IsRoot() ? value.users().front() : nullptr;
}

HloInstruction* only_result(const HloInstruction& call) {
  HloInstruction* const user = only_user(call);
  const bool is_first =
      user != nullptr && user->opcode() == kGetTupleElement && user->tuple_index() == 0;
  return is_first ? user : nullptr;
}

HloInstruction* after_reshapes(HloInstruction* value) {
  for (;;) {
    HloInstruction* const user = only_user(*value);
    if (user == nullptr || !is_reshape(*user)) return value;
    value = user;
  }
}

bool combines_by(const HloInstruction& reduction, HloOpcode opcode) {
  if ((reduction.opcode() != kReduce && reduction.opcode() != kReduceWindow) ||
      reduction.operand_count() != 2 || elements_of(reduction) == 0 ||
      elements_of(*reduction.operand(0)) == 0) {
    return false;
  }
  const HloInstruction& root = *reduction.to_apply()->root_instruction();
  return root.opcode() == opcode && root.operand(0)->opcode() == kParameter &&
         root.operand(1)->opcode() == kParameter && root.operand(0) != root.operand(1);
}

bool reduces_by(const HloInstruction& reduction, HloOpcode opcode) {
  return combines_by(reduction, opcode) && changes_nothing(*reduction.operand(1), opcode);
}

bool moves_elements(const xla::Shape& shape, absl::Span<const std::int64_t> order) {
  std::int64_t last = -1;
  for (const std::int64_t d : order) {
    if (entry(shape.dimensions(), d) == 1) continue;
    if (d < last) return true;
    last = d;
  }
  return false;
}

Dimensions filter_order(const HloInstruction& convolution) {
  const auto& numbers = convolution.convolution_dimension_numbers();
  return joined(
      {numbers.kernel_spatial_dimensions(),
       {numbers.kernel_input_feature_dimension(), numbers.kernel_output_feature_dimension()}});
}

bool is_point(const xla::WindowDimension& window) {
  return window.size() == 1 && window.stride() == 1 && window.padding_low() == 0 &&
         window.padding_high() == 0 && window.base_dilation() == 1;
}

bool is_fused_by_xla(const HloInstruction& value) {
  return (value.IsElementwise() || value.opcode() == kBroadcast) && value.operand_count() > 0;
}

std::int64_t count_of(const HloInstruction& sum) {
  if (sum.opcode() == kReduce) {
    return elements_of(*sum.operand(0)) / elements_of(sum);
  }
  std::int64_t count = 1;
  for (const auto& dimension : sum.window().dimensions()) count *= dimension.size();
  return count;
}

DividedSum divided_sum(const HloInstruction& quotient) {
  const bool is_quotient = quotient.opcode() == kDivide;
  if (!is_quotient && quotient.opcode() != kMultiply) return {};
  for (const std::size_t i : {0U, 1U}) {
    if (i == 1 && is_quotient) continue;
    const auto number = number_of(*quotient.operands()[1 - i]);
    HloInstruction* const sum = before_forms(quotient.operands()[i]);
    if (!number || !reduces_by(*sum, kAdd) || elements_of(*sum) != elements_of(quotient)) {
      continue;
    }
    const auto count = static_cast<double>(count_of(*sum));
    if (is_near(is_quotient ? *number : 1 / *number, count)) return {sum, quotient.operands()[i]};
  }
  return {};
}

Mean mean_of(HloInstruction* value) {
  HloInstruction* const sum = divided_sum(*before_reshapes(value)).sum;
  if (sum == nullptr || sum->opcode() != kReduce) return {};
  return {sum->mutable_operand(0), sum};
}

std::optional<MatrixProduct> matrix_product(const HloInstruction& dot) {
  if (dot.opcode() != kDot || dot.operand(1)->shape().rank() != 2) return {};
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
  while (dimension > 0 && size < columns) size *= entry(shape.dimensions(), --dimension);
  return size == columns ? dimension : -1;
}

HloInstruction* column_values(HloInstruction* value, const xla::Shape& shape,
                              std::int64_t columns) {
  const std::int64_t size = xla::ShapeUtil::ElementsIn(shape);
  if (value->opcode() != kBroadcast) {
    // Only of one row; without the reshapes, as for more rows, so that all sizes of a batch share
    // what is computed from them.
    return size == columns ? reshape(before_reshapes(value), {columns}) : nullptr;
  }
  HloInstruction* const inner = value->mutable_operand(0);
  if (elements_of(*inner) == 1) return broadcast(reshape(inner, {}), {columns}, {});
  HloInstruction* const numbers = spread_operand(*value, {{size / columns, 0}, {columns, 1}});
  return numbers == nullptr ? nullptr : reshape(numbers, {columns});
}

std::optional<ColumnStep> column_step(const HloInstruction& operation, const HloInstruction* x,
                                      const WeightValues& values) {
  const HloOpcode opcode = operation.opcode();
  const bool is_difference = opcode == kSubtract;
  if (opcode != kAdd && opcode != kMultiply && !is_difference) return {};
  if (is_difference && operation.operand(0) != x) return {};
  HloInstruction* const other = other_operand(operation, opcode, x);
  const bool is_spread = other != nullptr && other->opcode() == kBroadcast;
  if (other == nullptr || other == x || !values.is_known(is_spread ? other->operand(0) : other)) {
    return {};
  }
  HloInstruction* const numbers =
      column_values(other, operation.shape(), operation.shape().dimensions().back());
  if (numbers == nullptr) return {};
  return ColumnStep{is_difference ? negate(numbers) : numbers, opcode == kMultiply};
}

bool is_float32(const HloInstruction& value) {
  return value.shape().IsArray() && value.shape().element_type() == xla::F32;
}

bool is_for_kernels(const HloInstruction& value) {
  return value.shape().IsArray() && has_kernels(value.shape().element_type()) &&
         elements_of(value) > 0;
}

}  // namespace tfaot::toolkit::engine
