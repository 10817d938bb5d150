// SPDX-License-Identifier: Apache-2.0
// Equal architectures compile once: the second model, with another name and other weights, takes
// all its code from the cache, and its package is the same as without the cache. predictions_test,
// which links both, shows that the code predicts the same as TensorFlow.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using CodeCacheTest = ToolTest;

TEST_F(CodeCacheTest, EqualArchitecturesCompileOnce) {
  EXPECT_THAT(done({"compile", "-c", config("keras_export"), "-o", "a", "--cache", "cache"}),
              HasSubstr("6 objects\n"));
  EXPECT_THAT(done({"compile", "-c", config("keras_retrained"), "-o", "b", "--cache", "cache"}),
              HasSubstr("6 objects, 6 from the cache\n"));
  done({"compile", "-c", config("keras_retrained"), "-o", "c", "--no-cache"});
  EXPECT_EQ(read("b/manifest.json"), read("c/manifest.json"));
  EXPECT_THAT(read("b/lib/keras_retrained_bs1.o"), Not(HasSubstr("keras_export")));
}

TEST_F(CodeCacheTest, OtherCodeIsCompiled) {
  done({"compile", "-c", config("keras_export"), "-o", "a", "--cache", "cache"});
  EXPECT_THAT(done({"compile", "-c", config("keras_wider"), "-o", "b", "--cache", "cache"}),
              HasSubstr("6 objects\n"));
  EXPECT_THAT(done({"compile", "-c", config("keras_export"), "-o", "c", "--cache", "cache",
                    "--cpu-levels", "x86-64-v2,x86-64-v3", "--batch-sizes", "1,2"}),
              HasSubstr("4 objects, 1 from the cache\n"));
}

TEST_F(CodeCacheTest, ADamagedEntryIsReplaced) {
  const std::vector<std::string> compile = {"compile", "-c",   config("scalars"), "-o", "a",
                                            "--cache", "cache"};
  done(compile);
  const std::string manifest = read("a/manifest.json");
  auto entries = list_files_recursively(files_, root_ / "cache").value();
  EXPECT_EQ(std::erase(entries, ".added"), 1U);  // counts bytes
  ASSERT_EQ(entries.size(), 9U);
  for (const std::string& name : entries) {
    std::string bytes = read("cache/" + name);
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(files_.replace_atomically(root_ / "cache" / name, bytes));
  }
  EXPECT_THAT(done(compile), HasSubstr("9 objects\n"));
  EXPECT_EQ(read("a/manifest.json"), manifest);
  EXPECT_THAT(done(compile), HasSubstr("9 objects, 9 from the cache\n"));
}

// Tests do not touch the user's own cache: ctest sets one in the build folder.
TEST_F(CodeCacheTest, TestsHaveACacheOfTheirOwn) {
  const char* named = std::getenv("TFAOT_CACHE");
  ASSERT_STREQ(named, TFAOT_TEST_CACHE) << "tests are run by ctest";
  ProcessSpec process;
  process.program = TFAOT_TOOL;
  process.arguments = {"compile", "-c", config("scalars"), "-o", "out"};
  process.environment = {{"HOME", (root_ / "home").string()}, {"XDG_CACHE_HOME", ""}};
  process.working_directory = root_;
  const auto result = run_process(process);
  ASSERT_TRUE(result && result->ok()) << result->standard_error;
  EXPECT_EQ(files_.kind(root_ / "home"), FileKind::kMissing);
  const auto kept = list_files_recursively(files_, named);
  ASSERT_TRUE(kept) << kept.error().text();
  EXPECT_GE(kept->size(), 9U);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
