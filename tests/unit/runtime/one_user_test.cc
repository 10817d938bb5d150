// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/one_user.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"

namespace {

using Floats = std::vector<float>;
using tfaot_test::error_of;

constexpr char kRefused[] =
    "ConcurrentUse: model 'plain' is already running, perhaps in another thread; make one model "
    "per thread: models share code and weights";

TEST(OneUser, KnowsWhichCallIsAlone) {
  tfaot::OneUser user;
  {
    const tfaot::OneUser::Call first(user);
    EXPECT_TRUE(first.alone());
    {
      const tfaot::OneUser::Call second(user);
      EXPECT_FALSE(second.alone());
    }
    EXPECT_TRUE(first.alone());
    tfaot::OneUser moved = std::move(user);
    EXPECT_TRUE(tfaot::OneUser::Call(moved).alone()) << "of another model";
  }
  EXPECT_TRUE(tfaot::OneUser::Call(user).alone());
}

// The error in another thread that calls while the first call runs, and the result of the first
// call.
template <class Run>
void expect_refused(const Run& run) {
  std::string second = "not run";
  tfaot_test::while_running() = [&] {
    std::thread other([&] { second = error_of(run); });
    other.join();
  };
  EXPECT_EQ(error_of(run), "no error") << "the first call is not disturbed";
  EXPECT_EQ(second, kRefused);
  EXPECT_EQ(error_of(run), "no error") << "afterwards";
}

TEST(OneUser, RefusesASecondThreadInTheNativeModel) {
  tfaot::native::Model<tfaot_model::plain> model;
  const Floats x = {1, 2, 3, 4};
  expect_refused([&] {
    Floats y(4);
    model.run(1, x, y);
    EXPECT_EQ(y, (Floats{2, 3, 4, 5}));
  });
}

TEST(OneUser, RefusesASecondThreadInTheCompatibleModel) {
  tfaot::Model<tfaot_model::plain> model;
  expect_refused([&] {
    const auto outputs = model.run<tfaot::FloatArrays>(1, tfaot::FloatArrays{{1, 2, 3, 4}});
    EXPECT_EQ(std::get<0>(outputs)[0], (Floats{2, 3, 4, 5}));
  });
}

TEST(OneUser, RefusesACallWhileTasksRun) {
  tfaot::native::Model<tfaot_model::plain> model;
  const auto one_after_the_other = [](std::size_t count,
                                      const std::function<void(std::size_t)>& task) {
    for (std::size_t i = 0; i < count; ++i) task(i);
  };
  model.set_parallelism({one_after_the_other, 2, 16});
  const Floats x(4 * 64);
  expect_refused([&] {
    Floats y(4 * 64);
    model.run(64, x, y);
  });
}

TEST(OneUser, ForgetsACallThatFails) {
  tfaot::Model<tfaot_model::plain> model;
  const tfaot::FloatArrays wrong{{1, 2}};
  EXPECT_NE(error_of([&] { model.run<tfaot::FloatArrays>(1, wrong); }), "no error");
  EXPECT_EQ(error_of([&] {
              model.run<tfaot::FloatArrays>(1, tfaot::FloatArrays{{1, 2, 3, 4}});
            }),
            "no error");
}

}  // namespace
