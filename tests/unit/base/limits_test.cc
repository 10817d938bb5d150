// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/limits.h"

#include <gtest/gtest.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

TEST(ReadLimited, ReadsUpToTheLimit) {
  testing::MemoryFileSystem fs({{"/small", "12345"}, {"/large", "123456"}});
  const FileLimit limit = {"a note", 5};
  EXPECT_EQ(read_limited(fs, "/small", limit).value(), "12345");
  EXPECT_EQ(read_limited(fs, "/large", limit).error().text(),
            "/large: has 6 bytes, but a note has at most 5");
  EXPECT_FALSE(read_limited(fs, "/missing", limit));
}

}  // namespace
}  // namespace tfaot::toolkit
