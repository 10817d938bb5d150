// SPDX-License-Identifier: Apache-2.0
// The compatible API beside the native one, of a real model with one float input and one float
// output, alternately in one run: microseconds of a call of 1, 16, 64 and 256 rows, the smallest of
// many timings. Set TFAOT_BENCHMARK_HEADER and TFAOT_BENCHMARK_MODEL, as for the runners.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <vector>

#include TFAOT_BENCHMARK_HEADER

namespace {

using Clock = std::chrono::steady_clock;
using M = TFAOT_BENCHMARK_MODEL;

template <class Call>
double microseconds(const Call& call) {
  const Clock::time_point start = Clock::now();
  constexpr int kCalls = 20;
  for (int i = 0; i < kCalls; ++i) call();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kCalls;
}

}  // namespace

int main() {
  tfaot::native::Model<M> native;
  tfaot::Model<M> compatible;
  const std::size_t in = M::description().inputs[0].row_elements;
  const std::size_t out = M::description().outputs[0].row_elements;
  for (const std::size_t rows : {1U, 16U, 64U, 256U}) {
    const std::vector<float> x(rows * in, 0.5F);
    std::vector<float> y(rows * out);
    const tfaot::FloatArrays arrays(rows, std::vector<float>(in, 0.5F));
    double best[2] = {std::numeric_limits<double>::infinity(),
                      std::numeric_limits<double>::infinity()};
    for (int repeat = 0; repeat < 100; ++repeat) {
      best[0] = std::min(best[0], microseconds([&] { native.run(rows, x, y); }));
      best[1] = std::min(best[1], microseconds([&] {
                           const auto results = compatible.run<tfaot::FloatArrays>(rows, arrays);
                           y[0] += std::get<0>(results)[0][0];
                         }));
    }
    std::printf("%4zu rows: native %9.3f us, compatible %9.3f us, ratio %.3f\n", rows, best[0],
                best[1], best[1] / best[0]);
  }
  return 0;
}
