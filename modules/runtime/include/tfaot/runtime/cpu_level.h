// SPDX-License-Identifier: Apache-2.0
// Which of a package's CPU levels to use on this machine: the last of those whose features it has
// all. Pure but for this_cpu(), which looks once per process; safe from many threads.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/runtime/cpu_features.h"
#include "tfaot/runtime/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// What code may be taken. Made by name, as a level taken for a feature would quietly choose the
// slowest code.
class CpuChoice {
 public:
  // The best code that needs no feature but these, by LLVM's names: "avx2", "sve".
  static CpuChoice of_features(std::vector<std::string> features);
  // The code of this level alone, as long as the features are those it needs.
  CpuChoice at_level(std::string level) const;

  const std::vector<std::string>& features() const noexcept { return features_; }
  // Empty: the best is taken.
  const std::string& forced_level() const noexcept { return forced_level_; }

 private:
  CpuChoice(std::vector<std::string> features, std::string forced_level)
      : features_(std::move(features)), forced_level_(std::move(forced_level)) {}

  std::vector<std::string> features_;
  std::string forced_level_;
};

// detect_cpu_features() and the environment variable TFAOT_CPU_LEVEL, both read at the first call.
const CpuChoice& this_cpu();

bool can_run(const Code& code, const CpuChoice& cpu);

// The index into program.codes. Throws Error (UnsupportedCpu), naming the levels compiled and those
// that can run, when there is none. `model` is for the message.
std::size_t select_code(const char* model, const Program& program, const CpuChoice& cpu);

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
