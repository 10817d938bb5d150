// SPDX-License-Identifier: Apache-2.0
// How far the numbers of one array are from those of another, and whether they have the same bits.
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/records/validation.h"

namespace tfaot::toolkit {

// NaN is equal to NaN, an infinity to the same infinity, and -0 to 0. ULPs are those of the array's
// type: numbers of that type between the two, and one of them. REQUIRES: both have the same type,
// and `reference` has at least as many elements; more are left out.
ArrayDifference compare_arrays(const Array& array, const Array& reference);

// Every NaN counts as one and the same: which one an operation gives depends on the order of its
// operands.
struct BitsDifference {
  std::uint64_t numbers = 0;    // compared
  std::uint64_t unequal = 0;    // that differ in a bit
  std::uint64_t nonfinite = 0;  // of these: NaN or infinite in one of the two
  std::uint64_t ulps = 0;       // the largest distance of the others; 0 for whole numbers
};
// REQUIRES: both have the same type and size.
BitsDifference compare_bits(const Array& array, const Array& reference);

// Of the bytes of the arrays, one after another.
std::string sha256_of_arrays(const std::vector<Array>& arrays);

// True if an element is neither NaN nor infinite.
bool has_numbers(const Array& array);

}  // namespace tfaot::toolkit
