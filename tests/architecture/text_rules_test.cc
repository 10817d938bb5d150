// SPDX-License-Identifier: Apache-2.0
// The tree keeps the rules of text, and each check finds what breaks its rule.
#include "tests/architecture/text_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfaot::toolkit::architecture {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "x\n";
  return text;
}

TEST(ProjectText, HasLicenceLines) { EXPECT_THAT(check_licences(project()), IsEmpty()); }
TEST(ProjectText, StaysBelowItsCeilings) { EXPECT_THAT(check_lengths(project()), IsEmpty()); }
TEST(ProjectText, HasNoBannedCMakeCommands) {
  EXPECT_THAT(check_cmake_commands(project()), IsEmpty());
}
TEST(ProjectText, ReachesTheWorldThroughItsRooms) {
  EXPECT_THAT(check_calls(project()), IsEmpty());
}

TEST(SourceTree, HoldsEveryKindOfSource) {
  for (const char* path : {"CMakeLists.txt", "cmake/tfaot.cmake", "modules/base/src/result.cc",
                           "modules/base/include/tfaot/base/result.h", "packaging/setup.sh",
                           "tests/e2e/make_models.py", ".ci/run"}) {
    EXPECT_THAT(project(), Contains(Field(&SourceFile::path, path)));
  }
}

TEST(Licences, AreAskedForInTheFirstTwoLines) {
  const std::string line = "# SPDX-License-Identifier: Apache-2.0\n";
  EXPECT_THAT(check_licences({{"a.cc", line}, {"b.sh", "#!/bin/sh\n" + line}}), IsEmpty());
  EXPECT_THAT(check_licences({{"a.cc", "x\ny\n" + line}, {"b.py", ""}}),
              ElementsAre("a.cc:1: no line \"SPDX-License-Identifier: Apache-2.0\"",
                          "b.py:1: no line \"SPDX-License-Identifier: Apache-2.0\""));
}

TEST(Lengths, HaveACeilingForEachRoom) {
  const auto of_load = [](int count) {
    return check_lengths({{"modules/load/a.cc", lines(count) + "  /// A doc comment.\n"},
                          {"modules/load/src/b.h", lines(10)},
                          {"modules/CMakeLists.txt", lines(1000)},
                          {"tests/a.cc", lines(1000)}});
  };
  EXPECT_THAT(of_load(1000 - 10), IsEmpty());
  EXPECT_THAT(of_load(1000 - 510), IsEmpty());
  EXPECT_THAT(of_load(1000 - 9),
              ElementsAre("modules/load: 1001 lines, its ceiling is 1000: make it shorter, or "
                          "raise the ceiling and say in the commit why"));
  EXPECT_THAT(of_load(1000 - 511),
              ElementsAre("modules/load: 499 lines, its ceiling is 1000: lower the ceiling"));
  EXPECT_THAT(check_lengths({{"modules/attic/a.cc", "x\n"}}),
              ElementsAre("modules/attic: has no ceiling in tests/architecture/text_rules.cc"));
}

TEST(CMakeCommands, BannedOnesAreFound) {
  EXPECT_THAT(
      check_cmake_commands({{"CMakeLists.txt",
                             "file(GLOB sources *.cc)\nset(a ${CMAKE_SOURCE_DIR}/a)\n"
                             "include_directories(a)\nlink_directories(a)\nADD_DEFINITIONS(-Da)\n"
                             "macro(a)\nlink_libraries(a)\nset(b ${CMAKE_BINARY_DIR})\n"}}),
      ElementsAre("CMakeLists.txt:1: file(GLOB) is banned: use a list of the sources",
                  "CMakeLists.txt:2: CMAKE_SOURCE_DIR is banned: use PROJECT_SOURCE_DIR",
                  "CMakeLists.txt:3: include_directories() is banned: use "
                  "target_include_directories()",
                  "CMakeLists.txt:4: link_directories() is banned: use imported targets",
                  "CMakeLists.txt:5: add_definitions() is banned: use target_compile_definitions()",
                  "CMakeLists.txt:6: macro() is banned: use function()",
                  "CMakeLists.txt:7: link_libraries() is banned: use target_link_libraries()",
                  "CMakeLists.txt:8: CMAKE_BINARY_DIR is banned: use PROJECT_BINARY_DIR"));
}

TEST(CMakeCommands, NeighboursOfBannedOnesAreNot) {
  EXPECT_THAT(
      check_cmake_commands({{"CMakeLists.txt",
                             "target_include_directories(a PRIVATE a)\ntarget_link_libraries(a)\n"
                             "# macro(a)\nset(a \"${PROJECT_SOURCE_DIR}\")\nfile(READ a b)\n"},
                            {"step.cmake", "file(GLOB made \"${OUT}/*\")\n"}}),
      IsEmpty());
  EXPECT_THAT(
      check_cmake_commands({{"a.cmake", "file( glob_recurse s *.cc)\nadd_library(a ${s})\n"}}),
      ElementsAre("a.cmake:1: file(GLOB) is banned: use a list of the sources"));
}

TEST(Calls, OutOfTheirRoomAreFound) {
  EXPECT_THAT(
      check_calls({{"modules/config/src/x.cc",
                    "auto a = std::getenv(\"A\");\n::chdir(a);\nstd::exit(1);\nsystem(a);\n"
                    "std::ofstream out(a);\nstd::filesystem::current_path();\n"}}),
      ElementsAre(
          "modules/config/src/x.cc:1: getenv(): the environment belongs to cli: take the value as "
          "an "
          "argument",
          "modules/config/src/x.cc:2: chdir(): nobody changes the working directory: pass the "
          "folder",
          "modules/config/src/x.cc:3: exit(): only main ends the process: return an Error",
          "modules/config/src/x.cc:4: system(): processes belong to base: use run_process()",
          "modules/config/src/x.cc:5: ofstream: files belong to base: use FileSystem",
          "modules/config/src/x.cc:6: current_path(): the working directory belongs to cli: pass "
          "the "
          "folder"));
}

TEST(Calls, InTheirRoomTestsTextsAndCommentsAreNot) {
  EXPECT_THAT(
      check_calls(
          {{"modules/cli/src/x.cc", "std::getenv(name);\n"},
           {"modules/runtime/src/x.cc", "std::getenv(name);\n"},
           {"tests/unit/x.cc", "std::getenv(name);\n"},
           {"modules/base/src/x.cc",
            "// getenv(a)\nf(\"getenv(a)\", '\"', R\"x(getenv(\")x\");\n"
            "/* chdir(a)\n */ spec.exit(); exit_code(1'000); int my_getenv; int system;\n"}}),
      IsEmpty());
  EXPECT_THAT(
      check_calls({{"modules/runtime/include/x.h", "std::getenv(name);\n"}}),
      ElementsAre("modules/runtime/include/x.h:1: getenv(): the environment belongs to cli: "
                  "take the value as an argument"));
}

TEST(WithoutCommentsAndLiterals, KeepsLinesAndCode) {
  EXPECT_EQ(without_comments_and_literals("a; // b\n\"c\\\"d\" e '\\'' f /* g\n h */ 1'0 i"),
            "a;     \n       e      f     \n      1'0 i");
  EXPECT_EQ(without_comments_and_literals("R\"(a\n\")\" b"), "    \n    b");
}

}  // namespace
}  // namespace tfaot::toolkit::architecture
