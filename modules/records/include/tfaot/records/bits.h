// SPDX-License-Identifier: Apache-2.0
// Whether a row of a package has the same bits however it is run: what `tfaot validate --bits`
// compares (docs/reproducibility.md). What held can be in the manifest. Plain values and a pure
// function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/records/model_spec.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// In what the two calls of a comparison differ.
enum class BitsAspect {
  kLevels,      // in their CPU levels, which all fuse multiplications and additions, or none does
  kBatches,     // a row alone, and in a batch that a rule or the runtime composes
  kPlaces,      // the row's place in the batch
  kNeighbours,  // the other rows of the batch: NaN, infinities, zeros
  kThreads,     // one thread, and several that share rows or kernels
  kAddresses,   // where the inputs and outputs are
  kRuns,        // the same call again, after one with other inputs
};
template <>
inline constexpr auto kWords<BitsAspect> =
    std::to_array<Word<BitsAspect>>({{BitsAspect::kLevels, "cpu_levels"},
                                     {BitsAspect::kBatches, "batches"},
                                     {BitsAspect::kPlaces, "places"},
                                     {BitsAspect::kNeighbours, "other_rows"},
                                     {BitsAspect::kThreads, "threads"},
                                     {BitsAspect::kAddresses, "addresses"},
                                     {BitsAspect::kRuns, "runs"}});

// The hash of the outputs at CPU levels that gave the same bits.
struct LevelBits {
  std::vector<std::string> cpu_levels;
  std::string sha256;
};

// What the manifest keeps of a package without a difference.
struct SameBits {
  std::vector<std::int64_t> rows;  // numbers of rows that ran, ascending
  std::int64_t threads = 1;        // the most
  std::string inputs_sha256;
  std::vector<LevelBits> outputs;  // of all levels that ran
};

struct LevelFeatures {
  std::string cpu_level;
  std::vector<std::string> features;  // of its code, by LLVM's names
};
// The CPU levels whose code gives a row the same bits: those with fused multiply-adds, as one
// group, and each of the others alone. With bfloat16 products every level is alone.
std::vector<std::vector<std::string>> levels_of_same_bits(const std::string& target_triple,
                                                          ComputeType compute,
                                                          const std::vector<LevelFeatures>& levels);

}  // namespace tfaot::toolkit
