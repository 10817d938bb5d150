// SPDX-License-Identifier: Apache-2.0
// The kernels that XLA's code calls otherwise, as TensorFlow's wheel ships them: Eigen, for SSE2.
#include "candidates.h"
#include "measure.h"
#include "shapes.h"

extern "C" {
void __xla_cpu_runtime_EigenSingleThreadedMatMulF32(const void*, float*, float*, float*,
                                                    std::int64_t, std::int64_t, std::int64_t,
                                                    std::int32_t, std::int32_t);
void __xla_cpu_runtime_EigenSingleThreadedMatMulF64(const void*, double*, double*, double*,
                                                    std::int64_t, std::int64_t, std::int64_t,
                                                    std::int32_t, std::int32_t);
void __xla_cpu_runtime_EigenSingleThreadedConv2DF32(
    const void*, float*, float*, float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
}

namespace tfaot::kernels_benchmark {

void measure_eigen() {
  for (const Product& p : products()) {
    if (p.batch > 1) continue;  // XLA calls it for single products
    const auto run = [p, lhs = floats(p.rows * p.depth), rhs = floats(p.depth * p.columns),
                      result = floats(p.rows * p.columns)] {
      // It takes column-major matrices: ours transposed.
      __xla_cpu_runtime_EigenSingleThreadedMatMulF32(nullptr, result.get(), rhs.get(), lhs.get(),
                                                     p.columns, p.rows, p.depth, 0, 0);
    };
    measure("matmul/" + p.name() + "/eigen", p.operations(), run);
  }
  for (const Product& p : double_products()) {
    const auto run = [p, lhs = numbers<double>(p.rows * p.depth),
                      rhs = numbers<double>(p.depth * p.columns),
                      result = numbers<double>(p.rows * p.columns)] {
      __xla_cpu_runtime_EigenSingleThreadedMatMulF64(nullptr, result.get(), rhs.get(), lhs.get(),
                                                     p.columns, p.rows, p.depth, 0, 0);
    };
    measure("matmul_f64/" + p.name() + "/eigen", p.operations(), run);
  }
  for (const Image& i : images()) {
    if (i.depthwise) continue;  // XLA emits loops for these
    const Int pixels = i.batch * i.size * i.size, pad = i.window / 2;
    const auto run = [=, input = floats(pixels * i.in_channels),
                      filter = floats(i.window * i.window * i.in_channels * i.out_channels),
                      result = floats(pixels * i.out_channels)] {
      __xla_cpu_runtime_EigenSingleThreadedConv2DF32(
          nullptr, result.get(), input.get(), filter.get(), i.batch, i.size, i.size, i.in_channels,
          i.window, i.window, i.in_channels, i.out_channels, i.size, i.size, 1, 1, pad, pad, pad,
          pad, 1, 1, 1, 1, 1);
    };
    measure("convolution/" + i.name() + "/eigen", i.operations(), run);
  }
}

}  // namespace tfaot::kernels_benchmark
