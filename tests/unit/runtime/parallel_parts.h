// SPDX-License-Identifier: Apache-2.0
// What the tests of shared rows and of shared kernels have in common: executors, inputs, a check.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/unit/runtime/fake_model.h"
#include "tfaot/runtime/parallel.h"

namespace tfaot_test {

using Floats = std::vector<float>;
using Plain = tfaot::native::Model<tfaot_model::plain>;
using Task = std::function<void(std::size_t)>;

// A thread for each task, and all at once.
inline void in_threads(std::size_t count, const Task& task) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(task, i);
  for (std::thread& thread : threads) thread.join();
}

// All tasks on the calling thread.
inline void one_by_one(std::size_t count, const Task& task) {
  for (std::size_t i = 0; i < count; ++i) task(i);
}

inline Floats numbers(std::size_t count) {
  Floats values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

inline void expect_one_more(const Floats& x, const Floats& y) {
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] + 1) << i << " of " << x.size();
}

// The numbers of tasks the executor was asked for.
class Asked {
 public:
  tfaot::Parallelism with(std::size_t tasks, std::size_t min_rows) {
    return {[this](std::size_t count, const Task& task) {
              counts.push_back(count);
              for (std::size_t i = count; i-- > 0;) task(i);
            },
            tasks, min_rows};
  }
  std::vector<std::size_t> counts;
};

}  // namespace tfaot_test
