// SPDX-License-Identifier: Apache-2.0
// A scratch folder with a model, and the companions of a tool as if it were installed there, with a
// fake engine. What workflows say is collected.
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit::testing {

class CollectedDiagnostics final : public Diagnostics {
 public:
  void warning(const std::string& text) override;
  void verbose(const std::string&) override {}
  void progress(std::size_t done, std::size_t total, const std::string& step) override;

  std::vector<std::string> warnings;
  std::vector<std::string> steps;  // "1/2 batch size 1, x86-64"

 private:
  std::mutex mutex_;
};

class WorkflowTest : public ::testing::Test {
 protected:
  WorkflowTest();

  void write(const std::string& path, const std::string& text);
  std::string read(const Path& path) const;
  // model/aot_config.yaml and a saved model: "test_net" 1.0.0, batch sizes 1 and 4.
  void write_model();

  RealFileSystem files_;
  TemporaryFolder scratch_{"tfaot-workflow-XXXXXX"};  // rpm takes no blanks
  Path root_ = scratch_.path();
  Environment environment_;
  CollectedDiagnostics diagnostics_;
  Context context_{files_, diagnostics_, environment_};
};

}  // namespace tfaot::toolkit::testing
