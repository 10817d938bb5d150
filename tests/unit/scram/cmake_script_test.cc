// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/unit/scram/build_files.h"

namespace tfaot::toolkit {
namespace {

TEST(CMakeScript, CallsOneFunctionForEachTarget) {
  const auto made = testing::plan(
      "<use name='a'/>\n<use name='b/c' source_only='true'/>\n<skip/>"
      "<flags CPPDEFINES='T=\"x;$y\\z\"'/><flags LDFLAGS='-Wl,-x'/>\n"
      "<aot_compile model='/data/m' class='ns::M' batch_sizes='1 4'/>\n"
      "<aot_compile model='net.onnx' dimensions='n=5'/>\n"
      "<bin name='one' file='one.cc,*.cpp'><flags SETENV='A=b'/><flags DNN_NAME='net'/></bin>\n"
      "<bin name='two' file='two.cc'><flags NO_TESTRUN='yes'/><flags SKIP_FILES='x.cc'/>"
      "<include_path path='i'/></bin>\n"
      "<test name='three' command='echo \"$A\"'/>",
      "test");
  ASSERT_TRUE(made) << testing::error_of(made);
  EXPECT_TRUE(testing::matches_golden(cmake_script(*made), "buildfile/test_folder.cmake"));
}

TEST(CMakeScript, SaysWhatAPackageIs) {
  const auto made = testing::plan("<use name='a'/><flags ADD_SUBDIR='1'/>", "");
  EXPECT_TRUE(testing::matches_golden(cmake_script(*made), "buildfile/package.cmake"));
  const auto headers = testing::plan("", "");
  EXPECT_TRUE(testing::matches_golden(cmake_script(*headers), "buildfile/headers.cmake"));
}

}  // namespace
}  // namespace tfaot::toolkit
