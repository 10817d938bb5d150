// SPDX-License-Identifier: Apache-2.0
// native::Model::run() with designated initializers, as users of C++20 write it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"

namespace {

using tfaot_test::error_of;
using Floats = std::vector<float>;

TEST(NamedCall, RunsWhatTheCallByOrderRuns) {
  tfaot::native::Model<tfaot_model::fake> model;
  const Floats x = {1, 2, 3, -4, 5, 6};
  const std::array<std::int64_t, 4> n = {1, 2, 3, 4};
  Floats by_name(4);
  Floats by_order(4);
  bool flag[2] = {};
  model.run(2, {.x = x, .n = n}, {.sum = by_name, .flag = flag});
  EXPECT_EQ(by_name, (Floats{15, 3, 17.5F, 7}));
  model.run(2, tfaot::inputs(x, n), tfaot::outputs(by_order, flag));
  EXPECT_EQ(by_name, by_order);
}

TEST(NamedCall, AllocatesNothing) {
  tfaot::native::Model<tfaot_model::fake> model;
  alignas(16) const std::array<float, 3> x = {1, 2, 3};
  alignas(16) const std::array<std::int64_t, 2> n = {1, 2};
  alignas(16) std::array<float, 2> sum = {};
  alignas(16) std::array<bool, 1> flag = {};
  const std::size_t before = tfaot_test::allocations();
  model.run(1, {.x = x, .n = n}, {.sum = sum, .flag = flag});
  EXPECT_EQ(tfaot_test::allocations(), before);
  EXPECT_EQ(sum[1], 3);
}

TEST(NamedCall, NamesWhatIsLeftOut) {
  tfaot::native::Model<tfaot_model::fake> model;
  const Floats x(3);
  Floats sum(2);
  bool flag[1] = {};
  EXPECT_EQ(error_of([&] { model.run(1, {.x = x, .n = {}}, {.sum = sum, .flag = flag}); }),
            "InputMismatch: model 'fake': input 1 ('n') holds 0 elements, but 1 rows of 2 are "
            "expected; was it left out?");
}

// What the header of a model without a batch says.
struct whole : tfaot_model::fake {
  static constexpr bool kHasBatch = false;
};

TEST(NamedCall, OfAModelWithoutABatchNeedsNoRows) {
  tfaot::native::Model<whole> model;
  const std::array<float, 3> x = {1, 2, 3};
  const std::array<std::int64_t, 2> n = {1, 2};
  Floats by_name(2);
  Floats by_order(2);
  bool flag[1] = {};
  model.run({.x = x, .n = n}, {.sum = by_name, .flag = flag});
  EXPECT_EQ(by_name, (Floats{15, 3}));
  model.run(tfaot::inputs(x, n), tfaot::outputs(by_order, flag));
  EXPECT_EQ(by_name, by_order);
  const Floats too_many(4);
  EXPECT_EQ(error_of([&] { model.run({.x = too_many, .n = n}, {.sum = by_name, .flag = flag}); }),
            "InputMismatch: model 'fake': input 0 ('x') holds 4 elements, but 1 rows of 3 are "
            "expected");
}

}  // namespace
