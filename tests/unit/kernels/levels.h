// SPDX-License-Identifier: Apache-2.0
// The kernels under test, by CPU level, and the tests' parameter: every level the library has. A
// test of a level that this machine cannot run is skipped, and says so.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace tfaot::kernels_test {

using Kernel = void (*)(void* out, const void** in);

template <typename T>
struct Kernels {
  Kernel add_rows, matmul, convolution, depthwise, forest, gather, grouped_convolution,
      largest_pool, max_pool, range_pool, resize, sum_pool, top_k, transposed_convolution;
};

struct Level {
  const char* name;
  Kernels<float> f32;
  Kernels<double> f64;
  // Of f32.
  Kernel attention, dense_chain, function_pool, gelu, lstm, group_norm, gru, layer_norm,
      narrow_matmul, rnn, row_sum, softmax, winograd_convolution;

  const Kernels<float>& kernels(float /*type*/) const { return f32; }
  const Kernels<double>& kernels(double /*type*/) const { return f64; }
};

inline void PrintTo(const Level& level, std::ostream* out) { *out << level.name; }
const std::vector<Level>& all_levels();
bool runs_here(const Level& level);
std::string name_of_level(const ::testing::TestParamInfo<Level>& level);

class EveryLevel : public ::testing::TestWithParam<Level> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam())) GTEST_SKIP() << "this CPU cannot run " << GetParam().name;
  }
  template <typename T>
  const Kernels<T>& kernels() const {
    return GetParam().kernels(T{});
  }
};

}  // namespace tfaot::kernels_test
