// SPDX-License-Identifier: Apache-2.0
// XLA's products and convolutions of float16 by those of float32: Eigen's own for float16 round
// after each step, and take as long to compile. The engine widens float16, so only code that tfaot
// 0.2 or cms-tfaot compiled calls them.
#pragma once

#include <algorithm>
#include <vector>

#include "xla/service/cpu/runtime_single_threaded_matmul.h"

namespace xla::cpu::internal {

using Eigen::half, Eigen::Index;

// call(out, lhs, rhs) in float32.
template <class Call>
void widened(half* out, Index results, half* lhs, Index left, half* rhs, Index right, Call call) {
  std::vector<float> wide(results), a(lhs, lhs + left), b(rhs, rhs + right);
  call(wide.data(), a.data(), b.data());
  std::transform(wide.begin(), wide.end(), out, [](float x) { return half(x); });
}

template <class... Rest>
void EigenConv2D(const Eigen::DefaultDevice& device, half* out, half* lhs, half* rhs, Index images,
                 Index x, Index y, Index in, Index kernel_x, Index kernel_y, Index kernel_in,
                 Index filters, Index out_x, Index out_y, Rest... rest) {
  widened(out, images * out_x * out_y * filters, lhs, images * x * y * in, rhs,
          kernel_x * kernel_y * kernel_in * filters, [&](float* c, float* a, float* b) {
            EigenConv2D(device, c, a, b, images, x, y, in, kernel_x, kernel_y, kernel_in, filters,
                        out_x, out_y, rest...);
          });
}

template <class... Rest>
void EigenConv3D(const Eigen::DefaultDevice& device, half* out, half* lhs, half* rhs, Index images,
                 Index x, Index y, Index z, Index in, Index kernel_x, Index kernel_y,
                 Index kernel_z, Index kernel_in, Index filters, Index out_x, Index out_y,
                 Index out_z, Rest... rest) {
  widened(out, images * out_x * out_y * out_z * filters, lhs, images * x * y * z * in, rhs,
          kernel_x * kernel_y * kernel_z * kernel_in * filters, [&](float* c, float* a, float* b) {
            EigenConv3D(device, c, a, b, images, x, y, z, in, kernel_x, kernel_y, kernel_z,
                        kernel_in, filters, out_x, out_y, out_z, rest...);
          });
}

}  // namespace xla::cpu::internal
