// SPDX-License-Identifier: Apache-2.0
// What `tfaot profile` can be asked for: words and limits.
#pragma once

#include <array>
#include <cstdint>

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

}  // namespace tfaot::toolkit
