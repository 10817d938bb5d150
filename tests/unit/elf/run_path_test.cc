// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/linkage.h"

#include <gtest/gtest.h>

#include "tests/support/assembler.h"
#include "tfaot/elf/data_object.h"

namespace tfaot::toolkit {
namespace {

class RunPathTest : public testing::AssemblerTest {
 protected:
  std::string path_of_library(const std::string& linker_word) {
    assemble(".text");
    compiler({"-shared", "-nostdlib", linker_word, "-o", "library.so", "source.o"});
    return run_path(files_.read(folder_ / "library.so").value_or("")).value_or("an error");
  }
};

TEST_F(RunPathTest, IsThatOfTheLinker) {
  EXPECT_EQ(path_of_library("-Wl,-rpath,/a:$ORIGIN/b,--enable-new-dtags"), "/a:$ORIGIN/b");
  EXPECT_EQ(path_of_library("-Wl,-rpath,/a,--disable-new-dtags"), "/a");
  EXPECT_EQ(path_of_library("-Wl,--build-id"), "");
}

TEST(RunPath, OfWhatLoadsNothing) {
  EXPECT_FALSE(run_path(*make_data_object("x", {{"s"}}, "x86_64-linux")));
  EXPECT_FALSE(run_path("no program"));
}

}  // namespace
}  // namespace tfaot::toolkit
