// SPDX-License-Identifier: Apache-2.0
// A process with one engine and one model, and the questions it answers (modules/runner/src/
// runner.h). An interface, so that the measurement is tested without processes and clocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/conversation.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct Disagreement {
  double worst = 0;    // largest difference from the expected predictions
  double largest = 0;  // largest expected prediction
};
struct Timing {
  double wall = 0;  // nanoseconds of all calls
  double busy = 0;  // of the processor
};
struct Allocations {
  double count = 0;
  double bytes = 0;
};
struct MemoryUse {
  std::int64_t resident = 0;
  std::int64_t proportional = 0;
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Predicts so many rows once, and from now on.
  virtual Result<Disagreement> prepare(std::int64_t rows) = 0;
  virtual Result<Timing> time(std::int64_t calls) = 0;
  // Nothing if they are not counted.
  virtual Result<std::optional<Allocations>> allocations(std::int64_t calls) = 0;
  virtual Result<std::vector<double>> operations(std::int64_t calls) = 0;
  virtual Result<MemoryUse> memory() = 0;
};

struct RunnerSpec {
  Path program;
  std::vector<std::string> under;     // a program that runs it, and that program's own words
  std::vector<std::string> settings;  // "KEY=VALUE"
  std::map<std::string, std::string> environment;  // added to the parent's
  std::chrono::seconds timeout{600};               // for an answer; 0: none
  std::shared_ptr<MemoryBudget> memory;            // null: any
};

class RunnerProcess final : public Runner {
 public:
  // Waits for the first prediction.
  static Result<std::unique_ptr<RunnerProcess>> start(const FileSystem& files,
                                                      const RunnerSpec& spec);

  Result<Disagreement> prepare(std::int64_t rows) override;
  Result<Timing> time(std::int64_t calls) override;
  Result<std::optional<Allocations>> allocations(std::int64_t calls) override;
  Result<std::vector<double>> operations(std::int64_t calls) override;
  Result<MemoryUse> memory() override;

  // Waits until it has ended. REQUIRES: nothing is asked after.
  Status finish() { return conversation_.finish(); }
  // The outputs of the last prepare(), as raw rows, in files PREFIX0, PREFIX1 ...
  Status write_outputs(const Path& prefix);
  // Of the engine; "unknown".
  Result<std::string> version() { return conversation_.ask("version"); }

  // Nanoseconds from the start of its main() to the first prediction.
  double load_time() const { return load_time_; }

 private:
  RunnerProcess(const FileSystem& files, Conversation conversation)
      : files_(files), conversation_(std::move(conversation)) {}
  Result<std::vector<std::string>> ask(const std::string& question, std::size_t words);

  const FileSystem& files_;
  Conversation conversation_;
  double load_time_ = 0;
};

// Rss and Pss of /proc/PID/smaps_rollup.
MemoryUse memory_of(const std::string& smaps_rollup);

}  // namespace tfaot::toolkit
