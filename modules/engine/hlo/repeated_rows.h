// SPDX-License-Identifier: Apache-2.0
// Products with a weight whose left side repeats rows of smaller tensors, side by side, as nets on
// graphs have them for each pair of neighbours. With a product for each tensor,
//
//   [x_i, x_j - x_i] W = x_i (W1 - W2) + x_j W2,
//
// they have a row for each node, and what is repeated is added up for each pair. Used by one
// thread.
#pragma once

#include "hlo/choices.h"
#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Parameters of the entry computation from `first_weight` on are weights. A product stays where
// that would not save more multiplications than adding up costs, and a difference of rows where it
// may cancel more than the rest of the product would show: where its tensor is not beside it, and
// of the model's inputs as they are.
// Nothing changes where weights may not be joined.
Status multiply_before_repeating(xla::HloModule& module, std::int64_t first_weight,
                                 const Choices& choices = {});

}  // namespace tfaot::toolkit::engine
