// SPDX-License-Identifier: Apache-2.0
#include "kernels/row_calls.h"

#include "hlo/simplify.h"
#include "kernels/kernel_call.h"
#include "kernels/row_values.h"
#include "tfaot/kernels/rows.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Whether the kernel is the faster one for a softmax. XLA's loops take as long or less for a few
// rows of very few numbers.
bool is_worth_a_call(const RowsAndColumns& sizes) {
  return sizes.columns >= 8 || (sizes.columns > 4 && sizes.rows >= 4);
}

// x and the number that it is multiplied with.
struct Scaled {
  HloInstruction* x;
  double scale;
};

Scaled scaled(HloInstruction* value) {
  if (value->opcode() == HloOpcode::kMultiply) {
    for (const int i : {0, 1}) {
      if (const auto scale = number_of(*value->operand(1 - i))) {
        return {value->mutable_operand(i), *scale};
      }
    }
  }
  if (value->opcode() == HloOpcode::kDivide) {
    if (const auto divisor = number_of(*value->operand(1))) {
      return {value->mutable_operand(0), 1 / *divisor};
    }
  }
  return {value, 1};
}

// Whether it reduces the rows of `of`, or of that in another shape.
bool reduces(HloInstruction* reduce, HloOpcode opcode, HloInstruction* of) {
  const auto found = row_reduction(*reduce, opcode);
  return found && behind_reshapes(found->of) == behind_reshapes(of);
}

// The exponentials that `quotient` divides by the sum of their row; null: it does something else.
HloInstruction* normalised_exponentials(HloInstruction& quotient, const RowsAndColumns& sizes) {
  for (const int i : {0, 1}) {
    HloInstruction* const exp = quotient.mutable_operand(i);
    if (exp->opcode() != HloOpcode::kExp) continue;
    HloInstruction* sum = row_numbers(*quotient.mutable_operand(1 - i), sizes);
    if (sum == nullptr) continue;
    sum = behind_reshapes(sum);
    if (quotient.opcode() == HloOpcode::kMultiply) {  // by 1 / sum
      if (sum->opcode() != HloOpcode::kDivide || number_of(*sum->operand(0)) != 1) continue;
      sum = behind_reshapes(sum->mutable_operand(1));
    } else if (i == 1) {
      continue;
    }
    if (reduces(sum, HloOpcode::kAdd, exp)) return exp;
  }
  return nullptr;
}

// What is not above 0 anyway: the reader of ONNX says so.
HloInstruction* without_limit(HloInstruction* shifted) {
  if (shifted->opcode() != HloOpcode::kMinimum) return shifted;
  for (const int i : {0, 1}) {
    if (number_of(*shifted->operand(1 - i)) == 0) return shifted->mutable_operand(i);
  }
  return shifted;
}

// The squares that are added: of x, or of x - y.
struct Squares {
  HloInstruction* x = nullptr;
  HloInstruction* y = nullptr;
};

Squares squares_of(HloInstruction* value) {
  HloInstruction* const root = squared(value);
  if (root == nullptr) return {};
  const bool is_own = root->user_count() == 1;  // otherwise it is made anyway
  if (root->opcode() != HloOpcode::kSubtract || !is_own) return {root};
  const auto is_spread = [](const HloInstruction* one) {
    return one->opcode() == HloOpcode::kBroadcast;
  };
  if (is_spread(root->operand(0)) || is_spread(root->operand(1))) return {root};
  return {root->mutable_operand(0), root->mutable_operand(1)};
}

// XLA would make it in the loop that adds; the kernel would need it in memory.
bool is_made_in_sum(const HloInstruction* x) {
  return x->user_count() == 1 && (x->IsElementwise() || x->opcode() == HloOpcode::kBroadcast) &&
         x->operand_count() > 0;
}

}  // namespace

Status replace_softmax(HloInstruction& quotient, const WeightValues& values) {
  if (values.is_known(&quotient) ||
      (quotient.opcode() != HloOpcode::kDivide && quotient.opcode() != HloOpcode::kMultiply) ||
      !has_row_kernels(quotient)) {
    return {};
  }
  // The columns: what is reduced.
  const std::int64_t all = elements_of(quotient);
  for (const int i : {0, 1}) {
    HloInstruction* const exp = quotient.mutable_operand(i);
    if (exp->opcode() != HloOpcode::kExp) continue;
    HloInstruction* const shifted = without_limit(exp->mutable_operand(0));
    if (shifted->opcode() != HloOpcode::kSubtract) continue;
    HloInstruction* const y = shifted->mutable_operand(0);
    HloInstruction* peak = behind_reshapes(shifted->mutable_operand(1));
    if (peak->opcode() != HloOpcode::kBroadcast) continue;
    const std::int64_t rows = elements_of(*peak->operand(0));
    if (rows == 0 || all % rows != 0) continue;
    const RowsAndColumns sizes{rows, all / rows};
    if (!is_worth_a_call(sizes)) continue;
    peak = row_numbers(*shifted->mutable_operand(1), sizes);
    if (peak == nullptr || !reduces(behind_reshapes(peak), HloOpcode::kMaximum, y) ||
        normalised_exponentials(quotient, sizes) != exp) {
      continue;
    }
    const Scaled from = scaled(y);
    const kernels::SoftmaxCall call{sizes.rows, sizes.columns, from.scale};
    return checked(quotient.ReplaceAllUsesWith(
        add_kernel_call({"softmax", as_words(call), {from.x}, dimensions_of(quotient)}, quotient)));
  }
  return {};
}

Status replace_row_sum(HloInstruction& reduce, const WeightValues& values) {
  const auto found = row_reduction(reduce, HloOpcode::kAdd);
  if (!found || values.is_known(&reduce) || found->sizes.columns < kFewestColumns) return {};
  kernels::RowSumCall call{found->sizes.rows, found->sizes.columns, kernels::kRowSumOfNumbers};
  std::vector<HloInstruction*> operands = {found->of};
  if (found->of->user_count() == 1) {
    const Squares squares = squares_of(found->of);
    if (squares.y != nullptr) {
      call.form = kernels::kRowSumOfSquaredDifferences;
      operands = {squares.x, squares.y};
    } else if (squares.x != nullptr) {
      call.form = kernels::kRowSumOfSquares;
      operands = {squares.x};
    }
  }
  if (std::any_of(operands.begin(), operands.end(), is_made_in_sum)) return {};
  return checked(reduce.ReplaceAllUsesWith(
      add_kernel_call({"row_sum", as_words(call), operands, dimensions_of(reduce)}, reduce)));
}

namespace {

using Replacement = Status (*)(HloInstruction&, const WeightValues&);

Status replace_in_all(xla::HloModule& module, std::int64_t first_weight, Replacement replace) {
  const WeightValues values(module, first_weight);
  for (auto* computation : module.MakeComputationPostOrder()) {
    if (computation->IsFusionComputation()) continue;
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      TFAOT_TRY(replace(*instruction, values));
    }
  }
  return remove_dead_code(module);
}

}  // namespace

Status replace_normalisations(xla::HloModule& module, std::int64_t first_weight) {
  return replace_in_all(module, first_weight, replace_layer_norm);
}

Status replace_row_functions(xla::HloModule& module, std::int64_t first_weight) {
  TFAOT_TRY(remove_dead_code(module));  // users that are left of what is replaced do not count
  // The larger function first, which holds sums of its own.
  for (const Replacement replace : {replace_softmax, replace_row_sum, replace_gelu}) {
    TFAOT_TRY(replace_in_all(module, first_weight, replace));
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
