// SPDX-License-Identifier: Apache-2.0
// Which batch sizes to compile, by what calls cost: measured for compiled sizes, estimated for
// others. Of all sets of the candidates that keep within the limits it takes the one that uses the
// fewest bytes among those that are at most kSlack slower than the fastest. Pure function.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

inline constexpr double kSuggestSlack = 0.01;       // below what measurements tell apart
inline constexpr std::size_t kMostCandidates = 16;  // all their sets are tried
inline constexpr std::size_t kMostRows = 4096;

struct SuggestOptions {
  std::string cpu_level = "";                // empty: the highest that was measured
  std::map<std::size_t, double> rows = {};   // numbers of rows and how often each comes
  std::vector<std::size_t> candidates = {};  // empty: the compiled sizes and powers of two
  std::uint64_t max_bytes = 0;               // of code of all levels; 0: no limit
  std::size_t max_sizes = 0;                 // 0: no limit
};

struct SizeCost {
  std::size_t size = 0;
  double ns = 0;            // of a call
  std::uint64_t bytes = 0;  // of code, all levels
  bool compiled = false;    // then both are measured, else both are estimated
};

// A set of sizes and what it does for the rows asked for.
struct SizeSet {
  std::vector<SizeCost> sizes;  // ascending
  double ns = 0;                // of a call, on average
  double row_ns = 0;
  std::uint64_t bytes = 0;
};

struct Suggestion {
  std::string cpu_level;
  SizeSet suggested;
  SizeSet compiled;  // what the package holds, for comparison
};

// `where` names the package in errors.
Result<Suggestion> suggest_sizes(const Manifest& manifest, const SuggestOptions& options,
                                 const std::string& where);

}  // namespace tfaot::toolkit
