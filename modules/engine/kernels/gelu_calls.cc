// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/kernel_call.h"
#include "kernels/row_calls.h"
#include "kernels/row_values.h"
#include "tfaot/kernels/rows.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr std::int64_t kFewestActivated = 16;  // XLA's loop makes fewer as fast

// A number times other values.
struct Factors {
  double number = 1;
  std::vector<HloInstruction*> others;
};

void take_factors(HloInstruction* value, Factors& factors) {
  if (const auto number = number_of(*value)) {
    factors.number *= *number;
  } else if (value->opcode() == HloOpcode::kMultiply) {
    take_factors(value->mutable_operand(0), factors);
    take_factors(value->mutable_operand(1), factors);
  } else if (value->opcode() == HloOpcode::kDivide && number_of(*value->operand(1))) {
    factors.number /= *number_of(*value->operand(1));
    take_factors(value->mutable_operand(0), factors);
  } else {
    factors.others.push_back(value);
  }
}

Factors factors_in(HloInstruction* value) {
  Factors factors;
  take_factors(value, factors);
  return factors;
}

// 1 + curve
HloInstruction* curve_of(HloInstruction* value) {
  if (value->opcode() != HloOpcode::kAdd) return nullptr;
  for (const int i : {0, 1}) {
    if (number_of(*value->operand(i)) == 1) return value->mutable_operand(1 - i);
  }
  return nullptr;
}

// The x of x * (1 + erf(x / sqrt(2))) / 2; null for other functions.
HloInstruction* argument_of_gelu(HloInstruction& result) {
  if (result.opcode() != HloOpcode::kMultiply && result.opcode() != HloOpcode::kDivide) {
    return nullptr;
  }
  const Factors factors = factors_in(&result);
  if (factors.others.size() != 2 || !is_near(factors.number, 0.5)) return nullptr;
  for (const std::size_t i : {0U, 1U}) {
    HloInstruction* const x = factors.others[i];
    HloInstruction* const curve = curve_of(factors.others[1 - i]);
    if (curve == nullptr || curve->opcode() != HloOpcode::kErf) continue;
    const Factors inner = factors_in(curve->mutable_operand(0));
    if (inner.others.size() == 1 && inner.others[0] == x && is_near(inner.number, std::sqrt(0.5))) {
      return x;
    }
  }
  return nullptr;
}

// Whether a kernel makes it, so that it is in memory anyway.
bool is_from_kernel(HloInstruction* value) {
  value = behind_reshapes(value);
  return is_kernel_call(*value) ||
         (value->opcode() == HloOpcode::kGetTupleElement && is_kernel_call(*value->operand(0)));
}

// XLA would compute it in the loops of users that are no kernels.
bool feeds_kernels(const HloInstruction& value) {
  return std::all_of(value.users().begin(), value.users().end(), [](const auto* user) {
    return is_kernel_call(*user) || user->opcode() == HloOpcode::kTuple ||
           (user->opcode() == HloOpcode::kReshape && feeds_kernels(*user));
  });
}

}  // namespace

Status replace_gelu(HloInstruction& result, const WeightValues& values) {
  if (!has_row_kernels(result) || values.is_known(&result) || !feeds_kernels(result)) return {};
  HloInstruction* const x = argument_of_gelu(result);
  const std::int64_t size = elements_of(result);
  if (x == nullptr || size < kFewestActivated || elements_of(*x) != size || !is_from_kernel(x)) {
    return {};
  }
  return checked(result.ReplaceAllUsesWith(add_kernel_call(
      {"gelu", as_words(kernels::GeluCall{size}), {x}, dimensions_of(result)}, result)));
}

}  // namespace tfaot::toolkit::engine
