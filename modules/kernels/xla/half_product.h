// SPDX-License-Identifier: Apache-2.0
// XLA's product of float16 matrices, in the object of float32's; see halves.h.
#include "halves.h"

void __xla_cpu_runtime_EigenSingleThreadedMatMulF16(const void* options, Eigen::half* out,
                                                    Eigen::half* lhs, Eigen::half* rhs, int64_t m,
                                                    int64_t n, int64_t k, int32_t transpose_lhs,
                                                    int32_t transpose_rhs) {
  xla::cpu::internal::widened(out, m * n, lhs, m * k, rhs, k * n,
                              [&](float* c, float* a, float* b) {
                                __xla_cpu_runtime_EigenSingleThreadedMatMulF32(
                                    options, c, a, b, m, n, k, transpose_lhs, transpose_rhs);
                              });
}
