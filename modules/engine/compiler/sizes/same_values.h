// SPDX-License-Identifier: Apache-2.0
// Compares two modules by what they compute. Used by one thread.
#pragma once

#include <string>

#include "compiler/hlo/evaluate.h"

namespace tfaot::toolkit::engine {

// What the second module computes otherwise than the first; empty: nothing. Both compute some
// random inputs. Real results may differ by rounding: by 1e-4 of the largest of a tensor, and some
// of the last digits of halves. NaN is equal to NaN. Parameters from `inputs` on are weights.
std::string difference_of_values(const xla::HloModule& actual, const xla::HloModule& other,
                                 std::int64_t inputs, const Evaluator::Parameters& weights);

}  // namespace tfaot::toolkit::engine
