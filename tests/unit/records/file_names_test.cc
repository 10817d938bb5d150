// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/file_names.h"

#include <gtest/gtest.h>

#include "tfaot/records/symbols.h"

namespace tfaot::toolkit {
namespace {

TEST(FileNames, OfObjects) {
  const std::string program = program_name("test", 4);
  EXPECT_EQ(program, "test_bs4");
  EXPECT_EQ(object_file_name(program, "x86-64-v3"), "test_bs4_x86-64-v3.o");
  EXPECT_EQ(lowest_object_file_name(program), "test_bs4.o");
  EXPECT_EQ(weights_file_name("test"), "test_weights.o");
}

TEST(FileNames, TellObjects) {
  EXPECT_TRUE(is_object_file("lib/test_bs4.o"));
  EXPECT_TRUE(is_object_file("lib/test_weights.o"));
  EXPECT_FALSE(is_object_file("lib/libtest.so"));
  EXPECT_TRUE(is_weights_file("lib/test_weights.o"));
  EXPECT_FALSE(is_weights_file("lib/test_bs4.o"));
}

TEST(Symbols, SayNamespaceNameSizeAndLevel) {
  const std::string prefix = symbol_prefix("a::b", "test");
  EXPECT_EQ(prefix, "tfaot_a_b_test");
  EXPECT_EQ(entry_symbol(prefix, 4, "x86-64-v3"), "tfaot_a_b_test_bs4_x86_64_v3");
  EXPECT_EQ(weights_symbol(prefix), "tfaot_a_b_test_weights");
}

}  // namespace
}  // namespace tfaot::toolkit
