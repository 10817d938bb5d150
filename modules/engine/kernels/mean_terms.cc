// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean_terms.h"

#include <algorithm>
#include <vector>

#include "hlo/parts.h"
#include "kernels/means.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A factor of a term, or a divisor.
struct TermFactor {
  Part part;
  bool divides = false;
  friend bool operator==(const TermFactor& a, const TermFactor& b) {
    return a.part == b.part && a.divides == b.divides;
  }
};

// A product, of which a sum is made.
struct Term {
  Part part;
  bool is_subtracted;
  bool is_negative = is_subtracted;  // with the signs of its factors
  std::vector<TermFactor> factors = {};
};

constexpr int kMostSteps = 4;  // from a sum to its terms, and from a term to its factors

void add_factors(const Part& part, bool divides, int steps, Term& term) {
  const Part inner = stripped(part);
  const HloOpcode opcode = inner.base->opcode();
  const bool is_product = opcode == HloOpcode::kMultiply || opcode == HloOpcode::kDivide;
  const auto add_operand = [&](int i, bool also_divides) {
    add_factors(inner.with(inner.base->mutable_operand(i)), also_divides, steps - 1, term);
  };
  if (steps > 0 && opcode == HloOpcode::kNegate) {
    term.is_negative = !term.is_negative;
    add_operand(0, divides);
  } else if (steps > 0 && is_product && mean_of(inner.base).of == nullptr) {
    add_operand(0, divides);
    add_operand(1, divides != (opcode == HloOpcode::kDivide));
  } else {
    term.factors.push_back({inner, divides});
  }
}

void add_terms(const Part& part, bool is_subtracted, int steps, std::vector<Term>& terms) {
  const Part inner = stripped(part);
  const HloOpcode opcode = inner.base->opcode();
  const bool adds = opcode == HloOpcode::kAdd || opcode == HloOpcode::kSubtract;
  const auto add_operand = [&](int i, bool is_other_sign) {
    add_terms(inner.with(inner.base->mutable_operand(i)), is_subtracted != is_other_sign, steps - 1,
              terms);
  };
  if (steps > 0 && adds) {
    add_operand(0, false);
    add_operand(1, opcode == HloOpcode::kSubtract);
  } else if (steps > 0 && opcode == HloOpcode::kNegate) {
    add_operand(0, true);
  } else {
    add_factors(inner, false, kMostSteps, terms.emplace_back(Term{inner, is_subtracted}));
  }
}

HloInstruction* negated(HloInstruction* value) {
  return value->parent()->AddInstruction(
      HloInstruction::CreateUnary(value->shape(), HloOpcode::kNegate, value));
}

// The product with `other` in place of its factor `x`; null: that is no factor.
HloInstruction* with_other_factor(const Part& product, const Part& x, HloInstruction* other) {
  const Part inner = stripped(product);
  if (inner == x) return other;
  HloInstruction* const made = inner.base;
  const bool is_quotient = made->opcode() == HloOpcode::kDivide;
  if (made->opcode() == HloOpcode::kNegate) {
    HloInstruction* const one = with_other_factor(inner.with(made->mutable_operand(0)), x, other);
    return one == nullptr ? nullptr : negated(one);
  }
  if (made->opcode() != HloOpcode::kMultiply && !is_quotient) return nullptr;
  for (const int i : {0, 1}) {
    if (i == 1 && is_quotient) continue;
    HloInstruction* const one = with_other_factor(inner.with(made->mutable_operand(i)), x, other);
    if (one == nullptr) continue;
    const Part factor = stripped(inner.with(made->mutable_operand(1 - i)));
    return binary(made->opcode(), one, spread_part(factor, dimensions_of(*other)));
  }
  return nullptr;
}

// The factors of `term` without `factor`, which it has.
std::vector<TermFactor> others(const Term& term, const TermFactor& factor) {
  std::vector<TermFactor> rest = term.factors;
  rest.erase(std::find(rest.begin(), rest.end(), factor));
  return rest;
}

// Two terms that are x * k and -mean * k, and the factors x and mean.
struct Cancelling {
  const Term* of_x = nullptr;  // null: there are none
  const Term* of_mean = nullptr;
  Part x{}, mean{};
};

bool cancels(const Term& of_x, const TermFactor& x, const Term& of_mean, const TermFactor& mean) {
  if (x.divides || mean.divides || of_x.is_negative == of_mean.is_negative ||
      of_x.factors.size() == 1 || of_x.factors.size() != of_mean.factors.size() ||
      !is_mean_of(mean.part, x.part)) {
    return false;
  }
  const auto factors = others(of_x, x);
  return std::is_permutation(factors.begin(), factors.end(), others(of_mean, mean).begin());
}

Cancelling cancelling(const std::vector<Term>& terms, std::int64_t size) {
  for (const Term& of_x : terms) {
    for (const TermFactor& x : of_x.factors) {
      if (elements_of(*x.part.base) != size) continue;
      for (const Term& of_mean : terms) {
        for (const TermFactor& mean : of_mean.factors) {
          if (cancels(of_x, x, of_mean, mean)) return {&of_x, &of_mean, x.part, mean.part};
        }
      }
    }
  }
  return {};
}

}  // namespace

HloInstruction* by_difference(HloInstruction& root) {
  if (root.opcode() != HloOpcode::kAdd && root.opcode() != HloOpcode::kSubtract) return nullptr;
  const Dimensions sizes = dimensions_of(root);
  std::vector<Term> terms;
  add_terms(Part::whole(&root), false, kMostSteps, terms);
  const Cancelling found = cancelling(terms, elements_of(root));
  if (found.of_x == nullptr) return nullptr;
  HloInstruction* const difference =
      binary(HloOpcode::kSubtract, spread_part(found.x, sizes), spread_part(found.mean, sizes));
  HloInstruction* sum = with_other_factor(found.of_x->part, found.x, difference);
  if (sum == nullptr) return nullptr;
  if (found.of_x->is_subtracted) sum = negated(sum);
  for (const Term& other : terms) {
    if (&other == found.of_x || &other == found.of_mean) continue;
    sum = binary(other.is_subtracted ? HloOpcode::kSubtract : HloOpcode::kAdd, sum,
                 spread_part(other.part, sizes));
  }
  return sum;
}

}  // namespace tfaot::toolkit::engine
