// SPDX-License-Identifier: Apache-2.0
// Inputs that are made instead of read. The same seed gives the same numbers on every machine. Pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tfaot/arrays/array.h"

namespace tfaot::toolkit {

enum class Filling {
  kRandom,  // real numbers from -1 to 1; whole numbers and truth values of 0 or 1
  kZeros,   //
  kOnes,    //
  // 0, 1, 2, ... in each array, from the start again where the type ends or leaves out numbers;
  // truth values: false, true, false, ...
  kIncremental
};
template <>
inline constexpr auto kWords<Filling> = std::to_array<Word<Filling>>({{Filling::kRandom, "random"},
                                                                      {Filling::kZeros, "zeros"},
                                                                      {Filling::kOnes, "ones"},
                                                                      {Filling::kIncremental,
                                                                       "incremental"}});

struct FillOptions {
  Filling filling = Filling::kRandom;
  std::int64_t rows = 1;
  std::uint64_t seed = 1;  // of kRandom
};
std::vector<Array> filled_arrays(const std::vector<TensorSpec>& tensors,
                                 const FillOptions& options);

}  // namespace tfaot::toolkit
