// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/native_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/unit/runtime/fake_model.h"

namespace {

TEST(NativeModel, RunsACompiledBatch) {
  tfaot::native::Model<tfaot_model::fake> model;
  std::vector<float> x = {1, 2, 3, -4, 5, 6};
  std::array<std::int64_t, 4> n = {1, 2, 3, 4};
  std::vector<float> sum(4);
  bool flag[2] = {};
  model.run(2, tfaot::inputs(x, n), tfaot::outputs(sum, flag));
  EXPECT_EQ(sum, (std::vector<float>{15, 3, 17.5F, 7}));
  EXPECT_TRUE(flag[0]);
  EXPECT_FALSE(flag[1]);
}

TEST(NativeModel, TakesTheTensorsOfASingleInputAndOutputAsTheyAre) {
  tfaot::native::Model<tfaot_model::plain> model;
  const std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y(4);
  model.run(1, x, y);
  EXPECT_EQ(y, (std::vector<float>{2, 3, 4, 5}));
}

}  // namespace
