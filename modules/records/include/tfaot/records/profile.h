// SPDX-License-Identifier: Apache-2.0
// The requests and results of `tfaot profile`. Plain values; JSON in profile_json.h. Times are
// nanoseconds, sizes bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/records/free_sizes.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

inline constexpr std::int64_t kMostRounds = 100000;
inline constexpr double kMostRoundMs = 60000;

enum class ProfiledEngine { kPackage, kOnnxRuntime, kLiteRt, kTensorFlow };
template <>
inline constexpr auto kWords<ProfiledEngine> =
    std::to_array<Word<ProfiledEngine>>({{ProfiledEngine::kPackage, "tfaot"},
                                         {ProfiledEngine::kOnnxRuntime, "onnxruntime"},
                                         {ProfiledEngine::kLiteRt, "litert"},
                                         {ProfiledEngine::kTensorFlow, "tensorflow"}});

// How a package runs numbers of rows that are not compiled.
enum class ComposeStrategy {
  kNormal,     // as the runtime does by itself: the cheapest way
  kStitching,  // several calls, the largest size first; padding only below the smallest size
  kPadding,    // one call of the next larger size; several only above the largest size
  kRules,      // by the user's rules
};
template <>
inline constexpr auto kWords<ComposeStrategy> =
    std::to_array<Word<ComposeStrategy>>({{ComposeStrategy::kNormal, "normal"},
                                          {ComposeStrategy::kStitching, "stitching"},
                                          {ComposeStrategy::kPadding, "padding"},
                                          {ComposeStrategy::kRules, "rules"}});

enum class ProfileClock {
  kWall,       // what users wait
  kProcessor,  // what all threads computed, for a machine that is busy otherwise
};
template <>
inline constexpr auto kWords<ProfileClock> = std::to_array<Word<ProfileClock>>(
    {{ProfileClock::kWall, "wall"}, {ProfileClock::kProcessor, "processor"}});

// A program that watches what a process asks the allocator for.
enum class HeapTool { kMassif, kHeaptrack };
template <>
inline constexpr auto kWords<HeapTool> = std::to_array<Word<HeapTool>>(
    {{HeapTool::kMassif, "massif"}, {HeapTool::kHeaptrack, "heaptrack"}});

// The median, and the 16 % and 84 % quantiles.
struct Band {
  double median = 0;
  double low = 0;
  double high = 0;
};

// One number of rows.
struct ProfiledSize {
  std::int64_t rows = 0;
  std::string run_as;             // of a package: "2 x 64, 1"
  Band call;                      // time of a call
  double busy = 0;                // processor time over wall time, the median
  std::int64_t calls = 0;         // in each round
  std::vector<double> rounds;     // time of a call in each round
  double difference = 0;          // largest one from the package's predictions
  double largest = 0;             // largest prediction, which a difference is judged by
  double allocations = -1;        // in a call; -1: not counted
  double allocated = -1;          // bytes in a call
  std::int64_t resident = 0;      // of the process, after predictions of so many rows
  std::int64_t proportional = 0;  // the same, shared pages divided by those who share them
};

// One operation of the compiled code, by code that counts clock ticks (counted_code.h).
struct ProfiledOperation {
  std::string name;
  std::string category;
  std::string inside;  // the computation that holds it; empty: the entry
  double share = 0;    // of a call
  std::string origin;  // the model's own name of it; empty: unknown
};
struct ProfiledOperations {
  std::string model;
  std::string version;
  std::int64_t rows = 0;
  std::string cpu_level;
  double call = 0;          // of the package as it is; 0: not measured
  double instrumented = 0;  // of the code that counts
  std::vector<ProfiledOperation> operations;
};

// What a process had asked the allocator for and not given back, in a run of its own below a
// HeapTool: it loads, and predicts each number of rows a few times.
struct HeapMoment {
  double ms = 0;  // since its start, in that slower run
  std::int64_t bytes = 0;
};
struct ProfiledHeap {
  std::int64_t peak = -1;  // -1: not measured
  std::string cpu_level;   // of a package: the tool may run no better one
  std::vector<HeapMoment> over_time;
};

// A number of rows that a package would run clearly faster by other calls of its compiled sizes, as
// `tfaot tune` would find. Both were timed in the same rounds.
struct BetterPlan {
  std::int64_t rows = 0;
  std::string run_as;  // as it runs now
  Band call;
  std::string better_as;
  Band better;
};

// One model in one engine.
struct ProfiledCurve {
  std::string model;
  std::string version;
  ProfiledEngine engine = ProfiledEngine::kPackage;
  std::string source;  // the package, or a peer's model, as the user wrote it
  std::string cpu_level;
  ComposeStrategy strategy = ComposeStrategy::kNormal;
  Band load;                              // until the first prediction, of a new process
  std::int64_t resident = 0;              // after the first prediction, of one row
  std::int64_t proportional = 0;          //
  bool tuned = false;                     // a package that goes by times instead of estimates
  std::int64_t temporaries = 0;           // of a package: scratch of an instance
  std::vector<DimensionSize> dimensions;  // free ones, with the size that was measured
  ProfiledHeap heap;
  std::vector<ProfiledSize> sizes;
  std::vector<BetterPlan> better_plans;  // the one with most to win, or none
};

struct ProfiledMachine {
  std::string name;  // that the user gave it
  std::string cpu;
  std::string instructions;  // beyond the CPU levels, for kernels of fewer bits; empty: none
  std::int64_t cores = 0;
  std::int64_t core = 0;  // that ran everything
  std::string governor;   // empty: the machine does not say
  double mhz = 0;         // 0: the machine does not say
  double load = 0;        // processes that wanted a core in the last minute
  double noise = 0;       // 16 % to 84 % of the same work again and again, over its median
  std::vector<std::string> warnings;
};

struct Profile {
  std::string toolkit_version;
  ProfiledMachine machine;
  std::string inputs;                        // "random", or the file as the user wrote it
  ProfileClock clock = ProfileClock::kWall;  // of `call` and `rounds`
  std::int64_t round_count = 0;
  double round_ms = 0;
  std::int64_t empty_resident = 0;  // of a runner without an engine
  std::int64_t empty_proportional = 0;
  std::optional<HeapTool> heap_tool;
  ProfiledHeap empty_heap;
  std::vector<ProfiledCurve> curves;
  std::vector<ProfiledOperations> operations;
};

}  // namespace tfaot::toolkit
