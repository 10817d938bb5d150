// SPDX-License-Identifier: Apache-2.0
// Means, and what is made of numbers less their mean. XLA multiplies a sum by a rounded 1 / count,
// so a mean of ones is not always 1; and of numbers far from 0 that differ little, as padding of
// -999, the error of the mean is larger than their differences. So sums are divided as exactly as
// their type has it, a mean that is taken off its numbers is computed from their differences to a
// number near it, and products with a mean that cancel each other become one with the difference.
// Equal numbers then have themselves as their mean, and the variance 0. Used by one thread.
#pragma once

#include "hlo/parts.h"

namespace tfaot::toolkit::engine {

// The mean of `of` over the dimensions of a reduction that adds.
struct Mean {
  xla::HloInstruction* of = nullptr;   // null: there is none
  xla::HloInstruction* sum = nullptr;  // the reduction
};

// The mean that `value` is but for reshapes.
Mean mean_of(xla::HloInstruction* value);

// Whether `mean`, a part of what x is a part of, is x's mean at each place.
bool is_mean_of(const Part& mean, const Part& x);

// The sum that `quotient` divides by its count; null: it does something else.
xla::HloInstruction* divided_sum(xla::HloInstruction* quotient);

// After XLA's simplifier.
Status settle_means(xla::HloModule& module);

// Before it, which makes shifts of quotients: TensorFlow's means of whole numbers are made of sums
// in 64 bits.
Status widen_whole_means(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
