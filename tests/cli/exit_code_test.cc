// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tfaot/cli/run_program.h"

namespace tfaot::toolkit {
namespace {

TEST(ExitCodeTest, FollowsTheKindOfError) {
  EXPECT_EQ(exit_code({}), 0);
  EXPECT_EQ(exit_code(fail(Error("input"))), 1);
  EXPECT_EQ(exit_code(fail(Error::usage("usage"))), 2);
  EXPECT_EQ(exit_code(fail(Error::internal("defect"))), 3);
}

}  // namespace
}  // namespace tfaot::toolkit
