// SPDX-License-Identifier: Apache-2.0
// Branches that are never taken are gone, also those that draw random numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/hlo/simplify.h"
#include "front/graph/safe_graph.h"
#include "parse_hlo.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A branch adds random numbers, or passes its argument on. `choice`: the entry's instructions that
// make %choice.
std::string with_choice(const std::string& choice) {
  return R"(noisy { %x = f32[4] parameter(0)
 %low = f32[] constant(0)
 %high = f32[] constant(1)
 %noise = f32[4] rng(%low, %high), distribution=rng_uniform
 ROOT %sum = f32[4] add(%x, %noise) }
plain { ROOT %y = f32[4] parameter(0) }
ENTRY e { %input = f32[4] parameter(0)
 %flag = pred[] parameter(1)
)" + choice +
         R"(
 ROOT %result = f32[4] conditional(%choice, %input, %input), true_computation=noisy, false_computation=plain }
)";
}

std::string simplified(const std::string& choice, Status& random) {
  const auto module = testing::parse_hlo(with_choice(choice));
  const Status done = simplify(*module);
  EXPECT_TRUE(done);
  random = check_random_numbers(*module);
  return module->ToString();
}

TEST(KnownBranches, TheOtherOneIsGone) {
  Status random;
  const std::string text = simplified(" %choice = pred[] constant(false)", random);
  EXPECT_THAT(text, Not(HasSubstr("conditional")));
  EXPECT_THAT(text, Not(HasSubstr("rng")));
  EXPECT_TRUE(random);
}

TEST(KnownBranches, TheOneThatIsTakenStays) {
  Status random;
  const std::string text = simplified(" %choice = pred[] constant(true)", random);
  EXPECT_THAT(text, Not(HasSubstr("conditional")));
  EXPECT_THAT(text, HasSubstr("rng"));
  EXPECT_FALSE(random);
}

TEST(KnownBranches, AChoiceMayBecomeKnown) {
  Status random;
  const std::string text = simplified(R"( %no = pred[] constant(false)
 %choice = pred[] and(%flag, %no))",
                                      random);
  EXPECT_THAT(text, Not(HasSubstr("rng")));
  EXPECT_TRUE(random);
}

TEST(KnownBranches, AnOpenChoiceStays) {
  Status random;
  const std::string text = simplified(" %choice = pred[] copy(%flag)", random);
  EXPECT_THAT(text, HasSubstr("conditional"));
  EXPECT_FALSE(random);
}

TEST(KnownBranches, AreTakenByNumberToo) {
  for (const auto& [number, is_noisy] :
       {std::pair{"0", true}, {"1", false}, {"-1", false}, {"7", false}}) {
    const auto module = testing::parse_hlo(
        R"(noisy { %low = f32[] parameter(0)
 %high = f32[] constant(1)
 ROOT %noise = f32[] rng(%low, %high), distribution=rng_uniform }
plain { ROOT %y = f32[] parameter(0) }
ENTRY e { %input = f32[] parameter(0)
 %choice = s32[] constant()" +
        std::string(number) +
        R"()
 ROOT %result = f32[] conditional(%choice, %input, %input), branch_computations={noisy, plain} }
)");
    ASSERT_TRUE(simplify(*module));
    EXPECT_EQ(!check_random_numbers(*module), is_noisy) << number;
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
