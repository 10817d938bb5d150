// SPDX-License-Identifier: Apache-2.0
// How every candidate is measured: GFLOP/s of the repetition that nobody disturbed. Run with
// --benchmark_enable_random_interleaving=true, so that all meet the same noise.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tfaot::kernels_benchmark {

// Aligned as the runtime's memory is, and with numbers in it; shared by the copies of a benchmark.
template <typename T>
std::shared_ptr<T> numbers(std::int64_t count) {
  const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 127) / 64 * 64;
  std::shared_ptr<T> data(static_cast<T*>(std::aligned_alloc(64, bytes)), &std::free);
  for (std::int64_t i = 0; i < count; ++i) data.get()[i] = T{0.01F} * static_cast<T>(i % 97 - 48);
  return data;
}
inline std::shared_ptr<float> floats(std::int64_t count) { return numbers<float>(count); }

inline void measure(const std::string& name, double operations, const std::function<void()>& run) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [operations, run](benchmark::State& state) {
        for (auto step : state) {
          static_cast<void>(step);
          run();
          benchmark::ClobberMemory();
        }
        state.counters["GFLOP/s"] =
            benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
      })
      ->Repetitions(9)
      ->MinTime(0.01)
      ->ReportAggregatesOnly()
      ->ComputeStatistics("best", [](const std::vector<double>& values) {
        return *std::max_element(values.begin(), values.end());
      });
}

}  // namespace tfaot::kernels_benchmark
