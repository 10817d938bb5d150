// SPDX-License-Identifier: Apache-2.0
// An engine that has loaded TensorFlow and takes jobs until it is destroyed, for tests that start
// an engine hundreds of times. The built tool takes it by --launcher.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"

namespace tfaot::toolkit::testing {

class RunningEngine {
 public:
  RunningEngine() {
    engine_ = std::jthread([this] {
      ProcessSpec process;
      process.program = TFAOT_LOADED_ENGINE;
      process.arguments = {socket_.string(), std::to_string(::getpid())};
      process.environment["TF_CPP_MIN_LOG_LEVEL"] = "2";
      const auto ended = run_process(process);
      EXPECT_TRUE(ended && ended->ok()) << (ended ? ended->standard_error : "");
    });
  }
  ~RunningEngine() {
    ProcessSpec end;
    end.program = TFAOT_LAUNCH_LOADED;
    end.arguments = {socket_.string()};
    const auto ended = run_process(end);
    EXPECT_TRUE(ended && ended->ok()) << (ended ? ended->standard_error : "");
  }
  RunningEngine(const RunningEngine&) = delete;
  RunningEngine& operator=(const RunningEngine&) = delete;

  std::string launcher() const { return TFAOT_LAUNCH_LOADED " " + socket_.string(); }

 private:
  TemporaryFolder folder_{"tfaot-engine-XXXXXX"};  // a blank would end the launcher's word
  Path socket_ = folder_.path() / "socket";
  std::jthread engine_;
};

}  // namespace tfaot::toolkit::testing
