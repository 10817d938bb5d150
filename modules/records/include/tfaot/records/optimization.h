// SPDX-License-Identifier: Apache-2.0
// The words of the config's compilation.optimize.
#pragma once

#include <array>

#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// What code and weights are made for.
enum class Optimization {
  kSpeed,
  kSize,  // one layout for each weight, none with more numbers; XLA's smaller code
};
template <>
inline constexpr auto kWords<Optimization> = std::to_array<Word<Optimization>>(
    {{Optimization::kSpeed, "speed"}, {Optimization::kSize, "size"}});

}  // namespace tfaot::toolkit
