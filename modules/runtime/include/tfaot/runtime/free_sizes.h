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

/// A product of sizes: factor * size[0]^powers[0] * size[1]^powers[1] * ...
struct SizeTerm {
  std::int64_t factor;
  const std::uint8_t* powers;  ///< of the size of each free dimension
};

/// A whole number that follows the sizes: the sum of the terms, divided by the divisor; no
/// more than `most`.
struct SizeFormula {
  const SizeTerm* terms;
  std::size_t term_count;
  std::int64_t divisor;
  std::int64_t most = INT64_MAX;
};

/// The number at these sizes, one for each of the `count` free dimensions.
constexpr std::int64_t number_at(const SizeFormula& formula, const std::int64_t* sizes,
                                 std::size_t count) noexcept {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < formula.term_count; ++i) {
    std::int64_t value = formula.terms[i].factor;
    for (std::size_t d = 0; d < count; ++d) {
      for (int power = 0; power < formula.terms[i].powers[d]; ++power) value *= sizes[d];
    }
    sum += value;
  }
  // Most divisors are 1, and a division takes as long as all the rest.
  const std::int64_t number = formula.divisor == 1 ? sum : sum / formula.divisor;
  return number < formula.most ? number : formula.most;
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
