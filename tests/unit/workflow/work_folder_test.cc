// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/work_folder.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "workflow_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;

class WorkFolderTest : public WorkflowTest {};

TEST_F(WorkFolderTest, IsEmptyAtFirstAndGoesAtItsEnd) {
  write("out/.tfaot-work/left", "by a killed run");
  {
    const auto work = WorkFolder::create(context_, root_ / "out");
    ASSERT_TRUE(work) << work.error().text();
    EXPECT_EQ(work->path(), root_ / "out/.tfaot-work");
    EXPECT_THAT(files_.list(work->path()).value(), ElementsAre("lock"));
  }
  EXPECT_EQ(files_.kind(root_ / "out/.tfaot-work"), FileKind::kMissing);
  EXPECT_EQ(files_.kind(root_ / "out"), FileKind::kDirectory);  // it was there
  ASSERT_TRUE(WorkFolder::create(context_, root_ / "new"));
  EXPECT_EQ(files_.kind(root_ / "new"), FileKind::kMissing);
}

TEST_F(WorkFolderTest, SaysWhoseItIs) {
  const auto tell = tell_of_waiting(diagnostics_, "/out");
  tell(0);
  tell(getpid());
  EXPECT_THAT(diagnostics_.warnings,
              ElementsAre("/out: another tfaot is working there; waiting for it to end",
                          "/out: another tfaot (process " + std::to_string(getpid()) +
                              ") is working there; waiting for it to end"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
