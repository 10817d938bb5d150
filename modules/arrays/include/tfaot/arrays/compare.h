// SPDX-License-Identifier: Apache-2.0
// How far the numbers of one array are from those of another. Pure functions.
#pragma once

#include "tfaot/arrays/array.h"
#include "tfaot/records/validation.h"

namespace tfaot::toolkit {

// NaN is equal to NaN, an infinity to the same infinity, and -0 to 0. ULPs are those of the array's
// type: numbers of that type between the two, and one of them. REQUIRES: both have the same type,
// and `reference` has at least as many elements; more are left out.
ArrayDifference compare_arrays(const Array& array, const Array& reference);

// True if an element is neither NaN nor infinite.
bool has_numbers(const Array& array);

}  // namespace tfaot::toolkit
