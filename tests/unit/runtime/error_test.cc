// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/error.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using tfaot::Category;

TEST(Error, SaysItsCategoryFirst) {
  const tfaot::Error error(Category::kWrongPadding, "padding 2");
  EXPECT_STREQ(error.what(), "WrongPadding: padding 2");
  EXPECT_EQ(error.category(), "WrongPadding");
  EXPECT_EQ(error.code(), Category::kWrongPadding);
  EXPECT_THROW(throw tfaot::Error(error), std::runtime_error);
}

TEST(Error, NamesEveryCategoryAsCmsswDoes) {
  EXPECT_EQ(to_string(Category::kInputMismatch), "InputMismatch");
  EXPECT_EQ(to_string(Category::kOutputMismatch), "OutputMismatch");
  EXPECT_EQ(to_string(Category::kEmptySizes), "EmptySizes");
  EXPECT_EQ(to_string(Category::kUnknownBatchSize), "UnknownBatchSize");
  EXPECT_EQ(to_string(Category::kUnknownArgument), "UnknownArgument");
  EXPECT_EQ(to_string(Category::kUnknownResult), "UnknownResult");
  EXPECT_EQ(to_string(Category::kFailedRun), "FailedRun");
  EXPECT_EQ(to_string(Category::kInvalidBatchRule), "InvalidBatchRule");
  EXPECT_EQ(to_string(Category::kWrongPadding), "WrongPadding");
  EXPECT_EQ(to_string(Category::kWrongBatchSize), "WrongBatchSize");
  EXPECT_EQ(to_string(Category::kUnsupportedCpu), "UnsupportedCpu");
  EXPECT_EQ(to_string(Category::kConcurrentUse), "ConcurrentUse");
}

}  // namespace
