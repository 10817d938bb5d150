// SPDX-License-Identifier: Apache-2.0
// Dimensions whose sizes are chosen when the code runs, and the numbers that follow them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfaot::toolkit {

// A dimension that the model names but leaves open, and whose size is chosen when the code runs.
struct FreeDimension {
  std::string name;
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  std::string same_as = {};  // another one, whose size it always has; empty: it has its own
};

// A whole number that follows the sizes of the free dimensions, in their order: the sum of factor *
// product of powers of the sizes, divided by the divisor.
struct SizeTerm {
  std::int64_t factor = 0;
  std::vector<std::int64_t> powers = {};  // of each size; without zeros at the end
};
struct SizeFormula {
  std::vector<SizeTerm> terms;
  std::int64_t divisor = 1;
};

// A buffer of a tensor with a free size has so many elements more than the tensor at most has.
inline constexpr std::int64_t kElementsBeyond = 512;

}  // namespace tfaot::toolkit
