// SPDX-License-Identifier: Apache-2.0
// Which batch sizes to compile, judged by the cost of calls: measured for compiled sizes, estimated
// for others. It looks at all sets of candidates that keep within the limits. Among those at most
// kSlack slower than the fastest set, it takes the one with the fewest bytes. Pure function.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

inline constexpr double kSuggestSlack = 0.01;       // less than measurements can resolve
inline constexpr std::size_t kMostCandidates = 16;  // all their sets are tried
inline constexpr std::size_t kMostRows = 4096;

struct SuggestOptions {
  std::string cpu_level = "";                // empty: the highest measured level
  std::map<std::size_t, double> rows = {};   // numbers of rows and how often each comes
  std::vector<std::size_t> candidates = {};  // empty: the compiled sizes and powers of two
  std::uint64_t max_bytes = 0;               // of the code of all levels; 0: no limit
  std::size_t max_sizes = 0;                 // 0: no limit
};

struct SizeCost {
  std::size_t size = 0;
  double ns = 0;                    // of a call
  std::uint64_t bytes = 0;          // of code, all levels
  bool compiled = false;            // then both are measured, else both are estimated
  std::uint32_t live_permille = 0;  // the share of `ns` that rows of padding do not cost
};

// A set of sizes and its cost for the requested rows.
struct SizeSet {
  std::vector<SizeCost> sizes;  // ascending
  double ns = 0;                // of a call, on average
  double row_ns = 0;
  std::uint64_t bytes = 0;
};

struct Suggestion {
  std::string cpu_level;
  SizeSet suggested;
  SizeSet compiled;  // the sizes in the package, for comparison
};

// `where` names the package in errors.
Result<Suggestion> suggest_sizes(const Manifest& manifest, const SuggestOptions& options,
                                 const std::string& where);

}  // namespace tfaot::toolkit
