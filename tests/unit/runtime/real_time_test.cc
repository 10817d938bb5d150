// SPDX-License-Identifier: Apache-2.0
// What XLA's kernels in the runtime ask the system for: nothing, up to the sizes that
// docs/runtime.md names. tests/e2e/real_time.h watches whole models, and tests/unit/kernels our own
// kernels. TFAOT_REAL_TIME_CALLS=N in the environment: so many calls of each, in place of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/watched_calls.h"

extern "C" {
void __xla_cpu_runtime_TopKF32(std::int64_t, std::int64_t, std::int64_t, const float*, float*,
                               std::int32_t*);
void __xla_cpu_runtime_KeyValueSort(std::int64_t, std::int64_t, std::int64_t, char**, std::int32_t,
                                    std::int32_t*, bool, char*, std::int64_t*,
                                    void (*)(char*, char*, char**, char**, std::int64_t*));
}

namespace {

bool is_watched() {
  const std::string asked = tfaot_test::asked_for([] {}, [] {});
  return asked.rfind("skipped: ", 0) != 0;
}

std::string asked_by(const std::function<void()>& call) {
  const std::uint64_t calls = tfaot_test::calls_to_watch(1);
  return tfaot_test::asked_for([] {},
                               [&] {
                                 for (std::uint64_t i = 0; i < calls; ++i) call();
                               });
}

// Of pairs: by the first array.
void is_less(char* result, char*, char** pairs, char**, std::int64_t*) {
  const void* const a = pairs[0];
  const void* const b = pairs[1];
  *result = *static_cast<const std::int32_t*>(a) < *static_cast<const std::int32_t*>(b);
}

// Two arrays of shape [2, length, 3], sorted along the second dimension, in both of the ways that
// lengths have.
TEST(RealTimeKernels, SortWithoutMemoryAndStably) {
  for (const std::int64_t length : {0, 1, 2, 3, 17, 100, 2048, 2049, 5000}) {
    const auto size = static_cast<std::size_t>(6 * length);
    std::vector<std::int32_t> keys(size);
    std::vector<std::int64_t> places(size);
    for (std::size_t i = 0; i < size; ++i) {
      keys[i] = static_cast<std::int32_t>(i * 2654435761U % 1000003U % 50U);
      places[i] = static_cast<std::int64_t>(i);
    }
    const std::vector<std::int32_t> before = keys;
    void* const first = keys.data();
    void* const second = places.data();
    char* arrays[] = {static_cast<char*>(first), static_cast<char*>(second)};
    std::int32_t sizes[] = {4, 8};
    const auto sort = [&] {
      __xla_cpu_runtime_KeyValueSort(2, length, 3, arrays, 2, sizes, true, nullptr, nullptr,
                                     &is_less);
    };
    EXPECT_EQ(is_watched() ? asked_by(sort) : "", "") << length;
    sort();
    for (std::int64_t line = 0; line < 6; ++line) {
      const std::int64_t start = line / 3 * length * 3 + line % 3;
      std::vector<std::pair<std::int32_t, std::int64_t>> expected, got;
      for (std::int64_t i = 0; i < length; ++i) {
        const auto at = static_cast<std::size_t>(start + 3 * i);
        expected.emplace_back(before[at], at);
        got.emplace_back(keys[at], places[at]);
      }
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(got, expected) << "length " << length << ", line " << line;
    }
  }
}

TEST(RealTimeKernels, FindTheLargestWithoutMemory) {
  if (!is_watched()) GTEST_SKIP();
  std::vector<float> x(3000), best(3 * 40);
  std::vector<std::int32_t> where(best.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 101);
  EXPECT_EQ(asked_by([&] {
              __xla_cpu_runtime_TopKF32(3, 1000, 40, x.data(), best.data(), where.data());
            }),
            "");
}

}  // namespace
