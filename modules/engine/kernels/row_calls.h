// SPDX-License-Identifier: Apache-2.0
// Replaces functions of rows by calls of our kernels (tfaot/kernels/rows.h): softmax and
// normalisations as any format writes them, sums of rows, and gelu between two kernels. Used by one
// thread.
#pragma once

#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

// Layer, group and instance normalisations.
Status replace_normalisations(xla::HloModule& module, std::int64_t first_weight);

// REQUIRES: products are calls already: what they can do with their results is theirs.
Status replace_row_functions(xla::HloModule& module, std::int64_t first_weight);

// Parts of it, each for one instruction that the function may end or begin with. They change
// nothing if it is not theirs; what is replaced stays, without users.
Status replace_softmax(xla::HloInstruction& quotient, const WeightValues& values);
Status replace_layer_norm(xla::HloInstruction& deviation, const WeightValues& values);
Status replace_row_sum(xla::HloInstruction& reduce, const WeightValues& values);
Status replace_gelu(xla::HloInstruction& result, const WeightValues& values);

}  // namespace tfaot::toolkit::engine
