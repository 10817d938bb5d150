// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/tool_names.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

TEST(ToolNames, MakeVariables) {
  EXPECT_EQ(base_variable("tfaot-runtime"), "TFAOT_RUNTIME_BASE");
  EXPECT_EQ(base_variable("my.Tool+2"), "MY_TOOL_2_BASE");
  EXPECT_EQ(identifier_of("x86-64-v3"), "x86_64_v3");
}

TEST(ToolNames, MakeFilesInLowerCase) {
  EXPECT_EQ(toolbox_file_name("tfaot-model-MixedNet"), "tfaot-model-mixednet.xml");
}

}  // namespace
}  // namespace tfaot::toolkit
