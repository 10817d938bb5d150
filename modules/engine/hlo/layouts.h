// SPDX-License-Identifier: Apache-2.0
// Settles once in which order the dimensions of tensors lie. What comes from a net with channels
// first has transposes around each convolution and pool (onnx/operators/building.h). Here they move
// towards the outputs, through operations that can work in any order, until they meet their
// inverse. So only the ends of such a net are transposed. All elements stay what they were. Used by
// one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// A product with a weight may swap its sides: transposed, the weight stands on the left.
enum class ProductSides { kStay, kMaySwap };

// Changes nothing if transposes would then not move less. Parameters of the entry computation from
// `first_weight` on are weights, which are transposed while compiling. Where sides may swap,
// transposes that a product reads through cost nothing.
Status settle_layouts(xla::HloModule& module, std::int64_t first_weight,
                      ProductSides sides = ProductSides::kStay);

}  // namespace tfaot::toolkit::engine
