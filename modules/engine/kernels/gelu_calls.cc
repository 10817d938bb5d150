// SPDX-License-Identifier: Apache-2.0
#include "kernels/gelu_calls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "kernels/kernel_call.h"
#include "kernels/row_calls.h"
#include "kernels/row_values.h"

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

// By powers of x.
constexpr std::size_t kCubicPowers = 4;
using Cubic = std::array<double, kCubicPowers>;

std::optional<Cubic> cubic_product(const Cubic& a, const Cubic& b) {
  Cubic product{};
  for (std::size_t i = 0; i < kCubicPowers; ++i) {
    for (std::size_t j = 0; j < kCubicPowers; ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= kCubicPowers) return {};
      product[i + j] += a[i] * b[j];
    }
  }
  return product;
}

// The value as a polynomial of x; nothing if it is none, or of a higher degree, or made of more
// than a few steps.
std::optional<Cubic> cubic_of(const HloInstruction& x, const HloInstruction& value, int steps = 6) {
  if (&value == &x) return Cubic{0, 1};
  if (const auto number = number_of(value)) return Cubic{*number};
  if (steps == 0 || value.operand_count() != 2) return {};
  const auto a = cubic_of(x, *value.operand(0), steps - 1);
  const auto b = cubic_of(x, *value.operand(1), steps - 1);
  if (!a || !b) return {};
  const bool is_number = (*b)[1] == 0 && (*b)[2] == 0 && (*b)[3] == 0;
  Cubic result{};
  switch (value.opcode()) {
    case HloOpcode::kAdd:
      for (std::size_t i = 0; i < kCubicPowers; ++i) result[i] = (*a)[i] + (*b)[i];
      return result;
    case HloOpcode::kMultiply:
      return cubic_product(*a, *b);
    case HloOpcode::kDivide:
      if (!is_number) return {};
      return cubic_product(*a, {1 / (*b)[0]});
    case HloOpcode::kPower: {
      if (!is_number || ((*b)[0] != 2 && (*b)[0] != 3)) return {};
      const auto square = cubic_product(*a, *a);
      return square && (*b)[0] == 3 ? cubic_product(*square, *a) : square;
    }
    default:
      return {};
  }
}

bool is_cubic(const HloInstruction& x, const HloInstruction& value, const Cubic& of) {
  const auto found = cubic_of(x, value);
  if (!found) return false;
  for (std::size_t i = 0; i < kCubicPowers; ++i) {
    if (!is_near((*found)[i], of[i])) return false;
  }
  return true;
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

std::optional<Gelu> gelu_of(HloInstruction& result) {
  if (result.opcode() != HloOpcode::kMultiply && result.opcode() != HloOpcode::kDivide) return {};
  const double root = std::sqrt(2 / std::numbers::pi);
  const Factors factors = factors_in(&result);
  if (factors.others.size() != 2 || !is_near(factors.number, 0.5)) return {};
  for (const std::size_t i : {0U, 1U}) {
    HloInstruction* const x = factors.others[i];
    const HloInstruction* const curve = curve_of(factors.others[1 - i]);
    if (curve == nullptr) continue;
    if (curve->opcode() == HloOpcode::kErf &&
        is_cubic(*x, *curve->operand(0), {0, std::sqrt(0.5)})) {
      return Gelu{x, kernels::kGeluErf};
    }
    if (curve->opcode() == HloOpcode::kTanh &&
        is_cubic(*x, *curve->operand(0), {0, root, 0, 0.044715 * root})) {
      return Gelu{x, kernels::kGeluTanh};
    }
  }
  return {};
}

Status replace_gelu(HloInstruction& result, const WeightValues& values) {
  if (!has_row_kernels(result) || values.is_known(&result) || !feeds_kernels(result)) return {};
  const auto gelu = gelu_of(result);
  const std::int64_t size = elements_of(result);
  if (!gelu || size < kFewestActivated || elements_of(*gelu->x) != size ||
      !is_from_kernel(gelu->x)) {
    return {};
  }
  const kernels::GeluCall call{size, gelu->form};
  return checked(result.ReplaceAllUsesWith(
      add_kernel_call({"gelu", as_words(call), {gelu->x}, dimensions_of(result)}, result)));
}

}  // namespace tfaot::toolkit::engine
