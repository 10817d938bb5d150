// SPDX-License-Identifier: Apache-2.0
// Inputs that are made instead of read. The same seed gives the same numbers on every machine. Pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/records/input_use.h"
#include "tfaot/records/validation.h"

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

// Random inputs that a program of a few lines makes too (docs/reproducibility.md): each number
// depends on the seed, its tensor, row and place alone, so fewer rows are the first ones of more.
// Real numbers from -1 to 1, in every fourth row times 16, in every other fourth by 16; whole
// numbers and truth values of 0 or 1.
std::vector<Array> counted_arrays(const std::vector<TensorSpec>& tensors, std::int64_t rows,
                                  std::uint64_t seed);

// Inputs at which code made by different compilers may differ: very large and very small numbers,
// NaN, infinities, rows of one number, whole numbers of every size. The same numbers on every
// machine. Pure functions.

// The kinds that change some input of these, without kFile: those of real numbers only if an input
// has them, those of whole numbers likewise.
std::vector<InputKind> kinds_of_inputs(const std::vector<TensorSpec>& tensors);

struct EdgeOptions {
  InputKind kind = InputKind::kRandom;
  std::int64_t rows = 1;
  std::uint64_t seed = 1;
  std::vector<InputUse> uses = {};  // of each tensor; empty: unknown
};
// Inputs that the kind says nothing about are random. Masks, paddings and indices are drawn as the
// model reads them, unless all numbers shall be 0 or 1. REQUIRES: the kind is not kFile.
std::vector<Array> edge_arrays(const std::vector<TensorSpec>& tensors, const EdgeOptions& options);

// The arrays with each real number moved to one of its two neighbours, which one depends on the
// number and the seed: equal numbers stay equal, and zeros stay. Masks, paddings and indices stay.
std::vector<Array> moved_arrays(std::vector<Array> arrays, const std::vector<InputUse>& uses,
                                std::uint64_t seed);

}  // namespace tfaot::toolkit
