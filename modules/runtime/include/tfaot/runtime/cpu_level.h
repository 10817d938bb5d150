// SPDX-License-Identifier: Apache-2.0
// Chooses the code of a model for a CPU. Models take this_cpu() unless you choose otherwise.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// Selects the code that a model may use. A value, made by its two named functions: a level
/// mistaken for a feature would silently select the slowest code.
class CpuChoice {
 public:
  /// The best code that needs only these features, by LLVM's names: "avx2", "sve".
  static CpuChoice of_features(std::vector<std::string> features);
  /// Only the code of this level, such as "x86-64-v3". The features must include all it needs.
  CpuChoice at_level(std::string level) const;

  /// Features that code may need, by LLVM's names.
  const std::vector<std::string>& features() const noexcept { return features_; }
  /// The level of at_level(). Empty: the best one is used.
  const std::string& forced_level() const noexcept { return forced_level_; }

 private:
  CpuChoice(std::vector<std::string> features, std::string forced_level)
      : features_(std::move(features)), forced_level_(std::move(forced_level)) {}

  std::vector<std::string> features_;
  std::string forced_level_;
};

/// The features of this CPU and the environment variable `TFAOT_CPU_LEVEL`, both read at the first
/// call. Safe from many threads.
const CpuChoice& this_cpu();

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
