// SPDX-License-Identifier: Apache-2.0
// Moves scales and shifts of the columns of a product's left side into its weight: (x * s + t) W is
// x (s W) + t W, as where batch normalisation comes after an activation. Used by one thread.
#pragma once

#include "hlo/choices.h"
#include "hlo/hlo.h"
#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

// `value` as [columns], if it is known ahead and the same for all rows of `like`; else null.
xla::HloInstruction* column_numbers(xla::HloInstruction* value, const xla::Shape& like,
                                    const WeightValues& values);

// Parameters of the entry computation from `first_weight` on are weights. x is an activation of
// what a product makes: an input may be far from zero, and a shift of it would then cost digits.
// Nothing is moved where weights may not be joined.
Status move_scales_into_weights(xla::HloModule& module, std::int64_t first_weight,
                                const Choices& choices = {});

}  // namespace tfaot::toolkit::engine
