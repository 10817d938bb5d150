// SPDX-License-Identifier: Apache-2.0
// Dimensions whose sizes are chosen when the code runs, and the numbers that follow them. Pure
// functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tfaot::toolkit {

// Of any dimension.
inline constexpr std::int64_t kLargestSize = (std::int64_t{1} << 31) - 1;

// The size of a dimension that the model names but leaves open.
struct DimensionSize {
  std::string name;
  std::int64_t size = 0;
};

// A dimension that the model names but leaves open, and whose size is chosen when the code runs.
struct FreeDimension {
  std::string name;
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  std::string same_as = {};  // another one, whose size it always has; empty: it has its own
  std::int64_t step = 1;     // from one size to the next
};

// Some sizes of a dimension: every step-th one.
struct SizeSteps {
  std::int64_t smallest = 0;
  std::int64_t largest = kLargestSize;
  std::int64_t step = 1;

  friend bool operator==(const SizeSteps&, const SizeSteps&) = default;
};

// A whole number that follows the sizes of the free dimensions, in their order: the sum of factor *
// product of powers of the sizes, divided by the divisor and rounded down.
struct SizeTerm {
  std::int64_t factor = 0;
  std::vector<std::int64_t> powers = {};  // of each size; without zeros at the end
  std::vector<SizeSteps> within = {};     // it counts where all sizes are in these; the others: all
};
struct SizeFormula {
  std::vector<SizeTerm> terms;
  std::int64_t divisor = 1;

  bool is_of_parts() const {
    return std::ranges::any_of(terms, [](const SizeTerm& term) { return !term.within.empty(); });
  }
};

// A buffer of a tensor with a free size has so many elements more than the tensor at most has.
inline constexpr std::int64_t kElementsBeyond = 512;

// The dimensions with sizes of their own: formulas use their sizes, in this order.
std::vector<FreeDimension> sized_dimensions(const std::vector<FreeDimension>& all);

// The sizes of a call that names none: the largest.
std::vector<std::int64_t> default_sizes(const std::vector<FreeDimension>& sized);

// True if the number is the same at all sizes.
bool is_constant(const SizeFormula& formula);

// The number at these sizes.
std::int64_t size_at(const SizeFormula& formula, const std::vector<std::int64_t>& sizes);

// For people: "n_pf", "n_pf + 2*n_sv - 1", "(n^2 - n)/2", "min(n, 54)", "n - 1 if n = 1, 3..9; n if
// n = 2, 4..8".
std::string formula_text(const SizeFormula& formula, const std::vector<FreeDimension>& sized);

// "16..128"; "n_tracks" for one that has the size of another.
std::string range_word(const FreeDimension& dimension);
// "n_pf=16..128"
std::string range_text(const FreeDimension& dimension);

// The sizes of dimensions, given those of the ones with sizes of their own.
std::vector<DimensionSize> named_sizes(const std::vector<FreeDimension>& dimensions,
                                       const std::vector<std::int64_t>& sizes);
// "n_pf=37, n_sv=4"
std::string named_sizes_text(const std::vector<DimensionSize>& sizes);

}  // namespace tfaot::toolkit
