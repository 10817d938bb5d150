// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace tfaot::toolkit {
namespace {

TEST(ErrorText, IsTheMessageWhenNoPlaceIsKnown) { EXPECT_EQ(Error("no model").text(), "no model"); }

TEST(ErrorText, LeavesOutWhatIsUnknownOfThePlace) {
  EXPECT_EQ(Error::at({"a.yaml", 7, 3}, "bad").text(), "a.yaml:7:3: bad");
  EXPECT_EQ(Error::at({"a.yaml", 7}, "bad").text(), "a.yaml:7: bad");
  EXPECT_EQ(Error::at({"a.yaml"}, "bad").text(), "a.yaml: bad");
  EXPECT_EQ(Error::at({"a.yaml", 0, 3}, "bad").text(), "a.yaml: bad");
}

TEST(ErrorText, IndentsEveryLineOfEveryNote) {
  const Error error = Error("engine stopped").note("last lines:\nfirst\nsecond\n").note("try -v");
  EXPECT_EQ(error.text(), "engine stopped\n  last lines:\n  first\n  second\n  try -v");
}

TEST(Error, KnowsItsKind) {
  EXPECT_EQ(Error("x").kind(), ErrorKind::kInput);
  EXPECT_EQ(Error::at({"f"}, "x").kind(), ErrorKind::kInput);
  EXPECT_EQ(Error::usage("x").kind(), ErrorKind::kUsage);
  EXPECT_EQ(Error::internal("x").kind(), ErrorKind::kInternal);
}

Result<int> half_of(int number) {
  if (number % 2 != 0) return fail(Error("odd"));
  return number / 2;
}

Result<int> quarter_of(int number) {
  TFAOT_ASSIGN(const int half, half_of(number));
  TFAOT_ASSIGN(const int quarter, half_of(half));
  return quarter;
}

Status check_quarter(int number) {
  TFAOT_TRY(quarter_of(number));
  return {};
}

TEST(Result, MacrosPassValuesAndErrorsOn) {
  EXPECT_EQ(quarter_of(12).value(), 3);
  EXPECT_EQ(quarter_of(6).error().text(), "odd");
  EXPECT_TRUE(check_quarter(8));
  EXPECT_EQ(check_quarter(7).error().text(), "odd");
}

TEST(Result, ErrorsOfOneStepAreTheFirstAndOthers) {
  EXPECT_TRUE(all_or_first({}));
  const Status failed = all_or_first({Error("a").about("topic", {"x"}), Error("b"), Error("c")});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text(), "a");
  EXPECT_EQ(failed.error().topic(), "topic");
  EXPECT_EQ(failed.error().places(), std::vector<std::string>{"x"});
  ASSERT_EQ(failed.error().others().size(), 2U);
  EXPECT_EQ(failed.error().others()[1].text(), "c");
}

TEST(Error, MovedToAnotherPlaceItIsTheSame) {
  const Error moved =
      Error::usage("odd").note("first").note("second").moved_to({"BuildFile.xml", 7, 2});
  EXPECT_EQ(moved.text(), "BuildFile.xml:7:2: odd\n  first\n  second");
  EXPECT_EQ(moved.kind(), ErrorKind::kUsage);
}

TEST(Result, MacroMovesValuesThatCannotBeCopied) {
  const auto unwrap = []() -> Result<int> {
    TFAOT_ASSIGN(const auto pointer, Result<std::unique_ptr<int>>(std::make_unique<int>(5)));
    return *pointer;
  };
  EXPECT_EQ(unwrap().value(), 5);
}

}  // namespace
}  // namespace tfaot::toolkit
