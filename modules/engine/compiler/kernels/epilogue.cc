// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/epilogue.h"

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/kernels/functions.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// `value` as [rows] if it has one number for each row of each matrix [rows, columns] of `shape`,
// else null.
HloInstruction* row_values(HloInstruction* value, const xla::Shape& shape, std::int64_t rows,
                           std::int64_t columns) {
  std::int64_t row = first_column_dimension(shape, columns) - 1;  // the dimension of the rows
  while (row > 0 && shape.dimensions(static_cast<int>(row)) == 1) --row;
  if (value->opcode() != HloOpcode::kBroadcast || rows < 2 || row < 0 ||
      shape.dimensions(static_cast<int>(row)) != rows) {
    return nullptr;
  }
  HloInstruction* const inner = value->mutable_operand(0);
  if (xla::ShapeUtil::ElementsIn(inner->shape()) != rows) return nullptr;
  for (const auto dimension : value->dimensions()) {
    if (dimension != row && shape.dimensions(static_cast<int>(dimension)) > 1) return nullptr;
  }
  return reshape(inner, {rows});
}

class Finder {
 public:
  Finder(HloInstruction& result, std::int64_t columns, EpilogueRoom room,
         const WeightValues& values)
      : columns_(columns), room_(room), values_(values), current_(&result) {
    epilogue_.last = &result;
  }

  Epilogue find() {
    while (step()) {
    }
    return epilogue_;
  }

 private:
  bool step() {
    HloInstruction* const user = only_user(*current_);
    if (user == nullptr || epilogue_.six || is_hard_sigmoid_next()) return false;
    if (user->opcode() == HloOpcode::kReshape) {
      current_ = user;
      return first_column_dimension(user->shape(), columns_) >= 0;
    }
    if (xla::Match(user, m::Clamp(number_equal(0), same_as(current_), number_equal(6)))) {
      epilogue_.relu = epilogue_.six = true;
      current_ = epilogue_.last = user;
      return false;
    }
    if (user->operand_count() != 2 || user->operand(0) == user->operand(1)) return false;
    const bool is_first = user->operand(0) == current_;
    HloInstruction* other = user->mutable_operand(is_first ? 1 : 0);
    if (!take(*user, other, is_first)) return false;
    current_ = epilogue_.last = user;
    return true;
  }

  // It begins like a bias and a relu6, but is a function of its own (functions.h).
  bool is_hard_sigmoid_next() const {
    if (current_->shape().element_type() != xla::F32) return false;
    const auto found = function_of(*current_);
    return found && found->function == kernels::kFunctionHardSigmoid;
  }

  bool take(const HloInstruction& user, HloInstruction* other, bool is_first) {
    if (epilogue_.relu) {
      return user.opcode() == HloOpcode::kMinimum && number_of(*other) == 6 &&
             (epilogue_.six = true);
    }
    if (user.opcode() == HloOpcode::kMaximum && number_of(*other) == 0)
      return epilogue_.relu = true;
    const bool is_sum = user.opcode() == HloOpcode::kAdd;
    const bool is_difference = user.opcode() == HloOpcode::kSubtract && is_first;
    const bool is_scale = user.opcode() == HloOpcode::kMultiply;
    if (!is_sum && !is_difference && !is_scale) return false;
    const bool is_broadcast = other->opcode() == HloOpcode::kBroadcast;
    const bool is_known = values_.is_known(is_broadcast ? other->operand(0) : other);
    if (!is_broadcast && !is_known) return is_sum && add_all(other);
    // A second or scaled bias pays off only if it is computed ahead.
    if (is_scale && !(room_.scale && is_known && bias_is_known_ && epilogue_.addends == nullptr)) {
      return false;
    }
    if (!is_scale && epilogue_.bias != nullptr && !(is_known && bias_is_known_)) return false;
    HloInstruction* column = column_values(other, user.shape(), columns_);
    if (column == nullptr) return is_sum && add_row_bias(user, other, is_known);
    if (epilogue_.row_bias != nullptr) return false;
    if (is_scale) {
      epilogue_.scale = accumulate(HloOpcode::kMultiply, epilogue_.scale, column);
      if (epilogue_.bias != nullptr) {
        epilogue_.bias = binary(HloOpcode::kMultiply, epilogue_.bias, column);
      }
      return true;
    }
    if (is_difference) column = negate(column);
    epilogue_.bias = accumulate(HloOpcode::kAdd, epilogue_.bias, column);
    bias_is_known_ = bias_is_known_ && is_known;
    return true;
  }

  bool add_row_bias(const HloInstruction& user, HloInstruction* other, bool is_known) {
    if (epilogue_.bias != nullptr || (epilogue_.row_bias != nullptr && !is_known)) return false;
    HloInstruction* const row = row_values(other, user.shape(), room_.rows, columns_);
    if (row == nullptr) return false;
    epilogue_.row_bias = accumulate(HloOpcode::kAdd, epilogue_.row_bias, row);
    return true;
  }

  // `other` does not depend on the product, whose only user is the sum.
  bool add_all(HloInstruction* other) {
    if (!room_.sum || epilogue_.addends != nullptr) return false;
    epilogue_.addends = other;
    return true;
  }

  std::int64_t columns_;
  EpilogueRoom room_;
  const WeightValues& values_;
  HloInstruction* current_;
  bool bias_is_known_ = true;
  Epilogue epilogue_;
};

}  // namespace

std::int64_t Epilogue::word() const {
  return (bias != nullptr       ? kernels::kEpilogueBias
          : row_bias != nullptr ? kernels::kEpilogueRowBias
                                : kernels::kEpilogueNone) |
         (addends != nullptr ? kernels::kEpilogueSum : kernels::kEpilogueNone) |
         (six    ? kernels::kEpilogueRelu6
          : relu ? kernels::kEpilogueRelu
                 : kernels::kEpilogueNone);
}

void Epilogue::add_operands(std::vector<HloInstruction*>& operands) const {
  if (bias != nullptr) operands.push_back(bias);
  if (row_bias != nullptr) operands.push_back(row_bias);
  if (addends != nullptr) operands.push_back(addends);
}

Epilogue find_epilogue(HloInstruction& result, std::int64_t columns, EpilogueRoom room,
                       const WeightValues& values) {
  return Finder(result, columns, room, values).find();
}

}  // namespace tfaot::toolkit::engine
