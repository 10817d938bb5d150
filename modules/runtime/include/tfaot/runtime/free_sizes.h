// SPDX-License-Identifier: Apache-2.0
// Dimensions whose sizes each call chooses (`compilation.dimensions`), and the numbers that follow
// them. Constants that live as long as the library with the model; safe from many threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// A dimension of inputs whose size each call chooses.
struct FreeDimension {
  const char* name;       ///< in the model, such as "n_tracks"
  std::int64_t smallest;  ///< size
  std::int64_t largest;   ///< size
};

/// Some sizes of a dimension: every step-th one.
struct SizeSteps {
  std::int64_t smallest;
  std::int64_t largest;
  std::int64_t step;
};

/// A product of sizes: factor * size[0]^powers[0] * size[1]^powers[1] * ...
struct SizeTerm {
  std::int64_t factor;
  const std::uint8_t* powers;         ///< of the size of each free dimension
  const SizeSteps* within = nullptr;  ///< of each: it counts at these sizes alone; null: at all
};

/// A whole number that follows the sizes: the sum of the terms, divided by the divisor.
struct SizeFormula {
  const SizeTerm* terms;
  std::size_t term_count;
  std::int64_t divisor;
};

/// The number at these sizes, one for each of the `count` free dimensions.
constexpr std::int64_t number_at(const SizeFormula& formula, const std::int64_t* sizes,
                                 std::size_t count) noexcept {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < formula.term_count; ++i) {
    std::int64_t value = formula.terms[i].factor;
    const SizeSteps* const within = formula.terms[i].within;
    for (std::size_t d = 0; d < count; ++d) {
      if (within != nullptr && (sizes[d] < within[d].smallest || sizes[d] > within[d].largest ||
                                (sizes[d] - within[d].smallest) % within[d].step != 0)) {
        value = 0;
      }
      for (int power = 0; power < formula.terms[i].powers[d]; ++power) value *= sizes[d];
    }
    sum += value;
  }
  // Most divisors are 1, and a division takes as long as all the rest.
  return formula.divisor == 1 ? sum : sum / formula.divisor;
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
