// SPDX-License-Identifier: Apache-2.0
// Calls of kernels that share their work: results are the same to the last bit, with and without
// tasks, whatever the executor does.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"
#include "tfaot/runtime/detail/kernel_tasks.h"

namespace tfaot::kernels_test {

// Executors by name: tasks one after the other, also backwards, and each on a thread of its own.
struct NamedExecutor {
  const char* name;
  Executor executor;
};
const std::vector<NamedExecutor>& all_executors();

// Runs the kernel alone, then as `shares`, which is the same call with kEpilogueShared, without
// tasks and with each executor. `in` ends with a place for the address of tasks; scratch is as
// large as the call's own. Returns how often pieces were handed out.
template <typename T>
int expect_the_same_shared(Kernel kernel, const void* alone, const void* shares,
                           std::vector<const void*> in, void* out, Tensor<T>& result,
                           std::size_t scratch_bytes) {
  const std::size_t bytes = static_cast<std::size_t>(result.size()) * sizeof(T);
  std::vector<T> expected(static_cast<std::size_t>(result.size()));
  const auto clear = [&result] {
    for (Int i = 0; i < result.size(); ++i) result[i] = std::numeric_limits<T>::quiet_NaN();
  };
  in.front() = alone;
  clear();
  kernel(out, in.data());
  std::memcpy(expected.data(), result.data(), bytes);
  in.front() = shares;
  int handed_out = 0;
  const auto check = [&](Tasks* tasks, const std::string& who) {
    in.back() = &tasks;
    clear();
    kernel(out, in.data());
    ASSERT_EQ(std::memcmp(result.data(), expected.data(), bytes), 0) << who;
  };
  check(nullptr, "without tasks");
  std::size_t lanes = 2;  // fewer than there are pieces, later more
  for (const NamedExecutor& named : all_executors()) {
    const Executor counted = [&](std::size_t count, const std::function<void(std::size_t)>& task) {
      EXPECT_LE(count, lanes);
      ++handed_out;
      named.executor(count, task);
    };
    KernelTasks tasks(counted, lanes, scratch_bytes);
    check(tasks.tasks(), std::to_string(lanes) + " tasks, " + named.name);
    lanes = 2 * lanes - 1;
  }
  return handed_out;
}

// The same for a kernel with scratch memory: `out` begins with the result.
template <typename T>
int expect_the_same_shared(Kernel kernel, const void* alone, const void* shares,
                           std::vector<const void*> in, std::vector<void*> out, Tensor<T>& result,
                           std::size_t scratch_bytes) {
  return expect_the_same_shared(kernel, alone, shares, std::move(in),
                                static_cast<void*>(out.data()), result, scratch_bytes);
}

}  // namespace tfaot::kernels_test
