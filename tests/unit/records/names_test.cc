// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/names.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

TEST(Names, Defaults) { EXPECT_EQ(default_tool_name("my_net_2"), "tfaot-model-my-net-2"); }

TEST(Names, OfTools) {
  for (const char* name : {"tfaot-model-test", "a", "_b", "1.0+x_y-z"}) {
    EXPECT_TRUE(is_safe_name(name)) << name;
  }
  for (const char* name : {"", ".a", "-a", "+a", "a b", "a/b", "a\n", "\xc3\xa4"}) {
    EXPECT_FALSE(is_safe_name(name)) << name;
  }
  EXPECT_TRUE(is_reserved_tool_name("TFAOT-Runtime"));
  EXPECT_TRUE(is_reserved_tool_name("self"));
  EXPECT_FALSE(is_reserved_tool_name("tfaot-model-self"));
}

TEST(Names, OfVersionsThatCMakeCompares) {
  for (const char* version : {"1", "1.0", "1.0.0.12"}) EXPECT_TRUE(is_dotted_version(version));
  for (const char* version : {"", "1.", ".1", "1..2", "1.0.0.0.0", "1.0a", "v1"}) {
    EXPECT_FALSE(is_dotted_version(version)) << version;
  }
}

TEST(Names, OfPathsInAPackage) {
  for (const char* path : {"a", "lib/a.o", "a b/c~", "..a/.b"}) {
    EXPECT_TRUE(is_package_path(path)) << path;
  }
  for (const char* path : {"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\\b", "a\nb",
                           "a\x7f", "\xc3\xa4"}) {
    EXPECT_FALSE(is_package_path(path)) << path;
  }
}

TEST(Names, OfArchitectures) {
  EXPECT_EQ(processor_of("aarch64-unknown-linux-gnu"), "aarch64");
  EXPECT_EQ(processor_of("x86_64"), "x86_64");
  EXPECT_EQ(architecture_of("x86_64-unknown-linux-gnu"), "x86_64-linux");
  EXPECT_EQ(architecture_of("aarch64-linux-gnu"), "aarch64-linux");
  EXPECT_EQ(architecture_of("arm64-apple-darwin"), "arm64-darwin");
  EXPECT_EQ(architecture_of("x86_64"), "x86_64-unknown");
}

}  // namespace
}  // namespace tfaot::toolkit
