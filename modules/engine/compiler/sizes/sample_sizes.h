// SPDX-License-Identifier: Apache-2.0
// The sizes of free dimensions at which a model is optimised. Pure.
#pragma once

#include <vector>

#include "compiler/hlo/hlo.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

// Of the dimensions that have sizes of their own, in order.
std::vector<FreeDimension> own_dimensions(const std::vector<FreeDimension>& all);

// The sizes of all dimensions, given those of the ones with sizes of their own.
std::vector<DimensionSize> sizes_by_name(const std::vector<FreeDimension>& all,
                                         const Dimensions& own_sizes);

// The largest sizes.
Dimensions largest_sizes(const std::vector<FreeDimension>& own);

// Points at which a model most likely has the form that it has at nearly all sizes: none is small.
// `at_least`: the sizes of the first, which no other exceeds. All differ.
std::vector<Dimensions> sample_sizes(const std::vector<FreeDimension>& own, const Dimensions& first,
                                     std::size_t count);

}  // namespace tfaot::toolkit::engine
