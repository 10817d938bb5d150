// SPDX-License-Identifier: Apache-2.0
#include "kernels/row_values.h"

#include <algorithm>
#include <cmath>

#include "xla/literal.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Whether a reduction begins with what changes no result.
bool starts_at_nothing(const HloInstruction& start, HloOpcode opcode) {
  if (start.opcode() != HloOpcode::kConstant) return false;
  if (opcode == HloOpcode::kAdd) return start.literal().IsAll(0);
  return start.literal() == xla::LiteralUtil::MinValue(start.shape().element_type());
}

// The dimensions that a broadcast adds all come after those of its operand.
bool adds_columns(const HloInstruction& broadcast) {
  const auto& kept = broadcast.dimensions();
  const xla::Shape& shape = broadcast.shape();
  if (!std::is_sorted(kept.begin(), kept.end())) return false;
  bool met = false;  // one that is added
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(static_cast<int>(d)) == 1) continue;
    const bool is_kept = std::find(kept.begin(), kept.end(), d) != kept.end();
    if (met && is_kept) return false;
    met = met || !is_kept;
  }
  return true;
}

// Also the logarithm, the sum or the negative of numbers, as TensorFlow's softplus has its limits,
// and their product, as Keras has the count of a mean.
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
  const bool is_made = opcode == HloOpcode::kAdd || opcode == HloOpcode::kLog ||
                       opcode == HloOpcode::kMultiply || opcode == HloOpcode::kNegate;
  if (steps == 0 || !is_made) return {};
  const auto number = number_in(*inner->operand(0), steps - 1);
  if (!number) return {};
  if (opcode == HloOpcode::kLog) return std::log(*number);
  if (opcode == HloOpcode::kNegate) return -*number;
  const auto other = number_in(*inner->operand(1), steps - 1);
  if (!other) return {};
  return opcode == HloOpcode::kAdd ? *number + *other : *number * *other;
}

}  // namespace

std::int64_t elements_of(const HloInstruction& value) {
  return value.shape().IsArray() ? xla::ShapeUtil::ElementsIn(value.shape()) : 0;
}

HloInstruction* behind_reshapes(HloInstruction* value) {
  while (value->opcode() == HloOpcode::kReshape || value->opcode() == HloOpcode::kBitcast) {
    value = value->mutable_operand(0);
  }
  return value;
}

bool is_plain_reduction(const HloInstruction& reduce, HloOpcode opcode) {
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2 ||
      !has_row_kernels(reduce) || reduce.to_apply()->num_parameters() != 2 ||
      reduce.dimensions().empty()) {
    return false;
  }
  const HloInstruction* root = reduce.to_apply()->root_instruction();
  return root->opcode() == opcode && root->operand(0)->opcode() == HloOpcode::kParameter &&
         root->operand(1)->opcode() == HloOpcode::kParameter &&
         root->operand(0) != root->operand(1) && starts_at_nothing(*reduce.operand(1), opcode);
}

std::optional<RowReduction> row_reduction(HloInstruction& reduce, HloOpcode opcode) {
  if (!is_plain_reduction(reduce, opcode)) return {};
  const std::int64_t all = elements_of(*reduce.operand(0));
  const std::int64_t rows = elements_of(reduce);
  if (rows == 0 || all == 0) return {};
  // A dimension of size 1 may be reduced anywhere.
  const auto sizes = reduce.operand(0)->shape().dimensions();
  bool met = false;
  for (std::int64_t d = 0; d < std::ssize(sizes); ++d) {
    if (sizes[static_cast<std::size_t>(d)] == 1) continue;
    const auto& reduced = reduce.dimensions();
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
    if (met && !is_reduced) return {};
    met = met || is_reduced;
  }
  return RowReduction{reduce.mutable_operand(0), {rows, all / rows}};
}

std::optional<double> number_of(const HloInstruction& value) { return number_in(value, 3); }

HloInstruction* squared(HloInstruction* value) {
  const bool is_power = value->opcode() == HloOpcode::kPower && number_of(*value->operand(1)) == 2;
  const bool is_product =
      value->opcode() == HloOpcode::kMultiply && value->operand(0) == value->operand(1);
  return is_power || is_product ? value->mutable_operand(0) : nullptr;
}

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::abs(b); }

HloInstruction* row_numbers(HloInstruction& value, const RowsAndColumns& sizes) {
  HloInstruction* const broadcast = behind_reshapes(&value);
  if (broadcast->opcode() != HloOpcode::kBroadcast || elements_of(*broadcast) != sizes.size()) {
    return nullptr;
  }
  HloInstruction* const operand = broadcast->mutable_operand(0);
  return elements_of(*operand) == sizes.rows && adds_columns(*broadcast) ? operand : nullptr;
}

bool has_row_kernels(const HloInstruction& value) {
  return value.shape().IsArray() && value.shape().element_type() == xla::F32;
}

}  // namespace tfaot::toolkit::engine
