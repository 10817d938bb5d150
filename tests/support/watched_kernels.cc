// SPDX-License-Identifier: Apache-2.0
#include "tests/support/watched_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "tests/support/watched_calls.h"

namespace tfaot_test {
namespace {

// A test's calls differ, so no one of them gets more than this part of the calls, or this time.
constexpr std::uint64_t kParts = 20;
constexpr double kSeconds = 0.2;

std::deque<WatchedKernel>& watched_kernels() {
  static std::deque<WatchedKernel> kernels;
  return kernels;
}

class EnoughCalls : public ::testing::Environment {
 public:
  void TearDown() override {
    for (const WatchedKernel& kernel : watched_kernels()) {
      EXPECT_GE(kernel.calls, kernel_calls_to_watch()) << kernel.name << " has too few calls";
    }
  }
};

}  // namespace

std::uint64_t kernel_calls_to_watch() {
  static const std::uint64_t calls = calls_to_watch(0);
  return calls;
}

WatchedKernel& add_watched_kernel(const char* name) {
  if (watched_kernels().empty()) ::testing::AddGlobalTestEnvironment(new EnoughCalls);
  return watched_kernels().emplace_back(WatchedKernel{name});
}

void call_watched(WatchedKernel& watched, Kernel kernel, void* out, const void** in) {
  const auto start = std::chrono::steady_clock::now();
  kernel(out, in);
  const std::chrono::duration<double> length = std::chrono::steady_clock::now() - start;
  const std::uint64_t wanted = kernel_calls_to_watch();
  if (watched.calls >= wanted) return;
  const double in_time = 1 + kSeconds / (length.count() + 1e-9);
  const std::uint64_t calls =
      std::min({wanted - watched.calls, wanted / kParts + 1, static_cast<std::uint64_t>(in_time)});
  // In another process, which has its own copy of the results: some kernels add to them.
  const std::string asked = asked_for([] {},
                                      [&] {
                                        for (std::uint64_t i = 0; i < calls; ++i) kernel(out, in);
                                      });
  EXPECT_EQ(asked, "") << watched.name;
  watched.calls += calls;
}

}  // namespace tfaot_test
