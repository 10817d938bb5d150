// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/spec.h"

#include <gmock/gmock.h>

#include "workflow_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

class SpecWorkflowTest : public WorkflowTest {
 protected:
  SpecWorkflowTest() {
    write_model();
    request_.output_directory = root_ / "rpm";
    request_.flavour = SpecFlavour::kRpm;
    request_.config = (root_ / "model/aot_config.yaml").string();
  }

  SpecRequest request_;
};

TEST_F(SpecWorkflowTest, WritesSpecSourceAndList) {
  const auto written = write_spec_files(context_, request_);
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_EQ(written->spec, root_ / "rpm/SPECS/tfaot-model-test-net.spec");
  EXPECT_EQ(written->source, root_ / "rpm/SOURCES/tfaot-model-test-net-1.0.0.tar");
  EXPECT_THAT(read(written->spec), HasSubstr("tfaot-model-test-net-1.0.0.tar"));
  EXPECT_THAT(read(written->list), HasSubstr("Requires: tfaot-model-test-net"));
  EXPECT_EQ(files_.kind(written->source), FileKind::kFile);
  EXPECT_EQ(files_.kind(root_ / "rpm/.tfaot-work"), FileKind::kMissing);
}

TEST_F(SpecWorkflowTest, EqualFilesStayUntouched) {
  const auto first = write_spec_files(context_, request_);
  ASSERT_TRUE(first) << first.error().text();
  const std::vector<Path> written = {first->spec, first->source, first->list};
  for (const Path& path : written) {
    std::filesystem::last_write_time(path, std::filesystem::file_time_type());
  }
  ASSERT_TRUE(write_spec_files(context_, request_));
  for (const Path& path : written) {
    EXPECT_EQ(std::filesystem::last_write_time(path), std::filesystem::file_time_type()) << path;
  }
  write("model/saved_model/saved_model.pb", "a changed graph");
  ASSERT_TRUE(write_spec_files(context_, request_));
  EXPECT_NE(std::filesystem::last_write_time(first->source), std::filesystem::file_time_type());
  EXPECT_THAT(read(first->source), HasSubstr("a changed graph"));
}

TEST_F(SpecWorkflowTest, WhatWasWrittenCanBeTakenAway) {
  ASSERT_TRUE(write_spec_files(context_, request_));
  EXPECT_EQ(remove_spec_files(context_, root_ / "rpm", "tfaot-model-test-net"), true);
  EXPECT_EQ(files_.kind(root_ / "rpm/SPECS/tfaot-model-test-net.spec"), FileKind::kMissing);
  EXPECT_EQ(remove_spec_files(context_, root_ / "rpm", "tfaot-model-test-net"), false);
}

TEST_F(SpecWorkflowTest, AnAbsoluteModelIsRefusedAndNothingIsWritten) {
  write("model/aot_config.yaml", "model:\n  name: test_net\n  version: \"1.0.0\"\n  saved_model: " +
                                     (root_ / "model/saved_model").string() +
                                     "\ncompilation:\n  batch_sizes: [1]\n");
  const auto written = write_spec_files(context_, request_);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().text(), HasSubstr("the model's path is absolute"));
  EXPECT_EQ(files_.kind(root_ / "rpm"), FileKind::kMissing);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
