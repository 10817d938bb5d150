// SPDX-License-Identifier: Apache-2.0
// Finds operations that make each element along a dimension of a few neighbours, by numbers that
// are known while compiling, and replaces them by a kernel's calls: resizing of images, whatever it
// was lowered to. Those are products with a matrix that is nearly all zeros, gathers of windows
// followed by a product, gathers of an image's elements with known places, and elements that are
// repeated. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// A product with a known matrix that only chooses rows of a graph's nodes, as interaction networks
// find the ends of edges, becomes a gather.
Status gather_chosen_rows(xla::HloModule& module);

// The calls keep the order of their operand's dimensions.
Status replace_resizes(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
