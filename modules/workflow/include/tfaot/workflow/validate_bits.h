// SPDX-License-Identifier: Apache-2.0
// Has a row of a package the same bits however it is run? What `tfaot validate --bits` does: it
// runs the package in many ways and compares every number with the same row's alone
// (docs/reproducibility.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/bits.h"
#include "tfaot/records/manifest.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

struct BitsRequest {
  LoadRequest package;
  Path model;              ///< to name the first operation that differs; absolute; empty: none
  Path inputs;             ///< absolute; empty: random ones
  std::uint64_t seed = 1;  ///< of random inputs
  bool record = false;     ///< record_bits() follows
  EngineRun engine;        ///< that compiles the model again
};

/// How much was compared in one aspect, over all CPU levels.
struct ComparedBits {
  BitsAspect aspect = BitsAspect::kRuns;
  std::uint64_t calls = 0;
  std::uint64_t rows = 0;
  std::uint64_t numbers = 0;
  std::uint64_t unequal = 0;  ///< of the numbers
};

/// One output in one aspect at one CPU level.
struct DifferentBits {
  BitsAspect aspect = BitsAspect::kRuns;
  std::string cpu_level;
  std::string output;
  std::uint64_t rows = 0;       ///< that differ
  std::uint64_t numbers = 0;    ///< of these rows
  std::uint64_t unequal = 0;    ///< of these numbers
  std::uint64_t nonfinite = 0;  ///< of the unequal ones: NaN or infinite in one of the two
  std::uint64_t ulps = 0;       ///< the largest distance of the others
  // The first of them:
  std::int64_t row = 0;  ///< of the inputs
  std::string one;       ///< "x86-64-v4, batch of 5 (4,4)"
  std::string other;
};

/// The first operation of the model whose results differ, between CPU levels or batches.
struct DifferentOperation {
  BitsAspect aspect = BitsAspect::kLevels;
  std::string cpu_level;
  std::int64_t size = 0;            ///< the compiled size that ran
  std::string kind;                 ///< OperationResult
  std::string origin;               ///< the same
  std::vector<std::int64_t> shape;  ///< the same
  std::uint64_t numbers = 0;
  std::uint64_t unequal = 0;  ///< of the numbers
  std::uint64_t ulps = 0;     ///< the largest distance
};

/// Rows that are put beside others.
enum class OtherRows { kNan, kInfinite, kZeros };
template <>
inline constexpr auto kWords<OtherRows> = std::to_array<Word<OtherRows>>(
    {{OtherRows::kNan, "NaN"}, {OtherRows::kInfinite, "infinities"}, {OtherRows::kZeros, "zeros"}});

struct BitsResult {
  Manifest manifest;
  Path path;                                     ///< of the package's tree or archive
  std::vector<std::vector<std::string>> levels;  ///< that ran; those compared with each other
  std::vector<std::string> skipped_levels;       ///< that this CPU cannot run
  std::int64_t rows = 0;                         ///< of the inputs
  std::vector<OtherRows> endless;                ///< the package does not end for such rows
  std::vector<ComparedBits> compared;            ///< each aspect that applies
  std::vector<DifferentBits> differences;
  std::vector<DifferentOperation> operations;
  bool has_model = false;  ///< the request had one, so operations were looked for
  SameBits summary;        ///< its hashes are of the first rows of the inputs, each alone

  bool passed() const { return differences.empty(); }
};

/// Error: the package cannot be loaded or run. That bits differ is no error.
Result<BitsResult> validate_bits(Context& context, const BitsRequest& request);

/// Puts the summary into the manifest, as record_validation(). REQUIRES: result.passed().
Status record_bits(Context& context, const BitsRequest& request, const BitsResult& result);

}  // namespace tfaot::toolkit
