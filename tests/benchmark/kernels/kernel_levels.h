// SPDX-License-Identifier: Apache-2.0
// What kernels_benchmark.cc measures: the kernels of a CPU level.
#pragma once

using Kernel = void (*)(void*, const void**);

#define TFAOT_DECLARE(level)                                          \
  void tfaot_matmul_f32_##level(void*, const void**);                 \
  void tfaot_matmul_f64_##level(void*, const void**);                 \
  void tfaot_convolution_f32_##level(void*, const void**);            \
  void tfaot_depthwise_f32_##level(void*, const void**);              \
  void tfaot_max_pool_f32_##level(void*, const void**);               \
  void tfaot_sum_pool_f32_##level(void*, const void**);               \
  void tfaot_lstm_f32_##level(void*, const void**);                   \
  void tfaot_gru_f32_##level(void*, const void**);                    \
  void tfaot_resize_f32_##level(void*, const void**);                 \
  void tfaot_rnn_f32_##level(void*, const void**);                    \
  void tfaot_top_k_f32_##level(void*, const void**);                  \
  void tfaot_gather_f32_##level(void*, const void**);                 \
  void tfaot_narrow_matmul_f32_##level(void*, const void**);          \
  void tfaot_gelu_f32_##level(void*, const void**);                   \
  void tfaot_group_norm_f32_##level(void*, const void**);             \
  void tfaot_layer_norm_f32_##level(void*, const void**);             \
  void tfaot_row_sum_f32_##level(void*, const void**);                \
  void tfaot_softmax_f32_##level(void*, const void**);                \
  void tfaot_transposed_convolution_f32_##level(void*, const void**); \
  void tfaot_winograd_convolution_f32_##level(void*, const void**);
#define TFAOT_LEVEL(name, level)                                                                \
  {                                                                                             \
    name, &tfaot_matmul_f32_##level, &tfaot_matmul_f64_##level, &tfaot_convolution_f32_##level, \
        &tfaot_depthwise_f32_##level, &tfaot_max_pool_f32_##level, &tfaot_sum_pool_f32_##level, \
        &tfaot_resize_f32_##level, &tfaot_transposed_convolution_f32_##level,                   \
        &tfaot_lstm_f32_##level, &tfaot_gru_f32_##level, &tfaot_rnn_f32_##level,                \
        &tfaot_top_k_f32_##level, &tfaot_gather_f32_##level, &tfaot_narrow_matmul_f32_##level,  \
        &tfaot_gelu_f32_##level, &tfaot_group_norm_f32_##level, &tfaot_layer_norm_f32_##level,  \
        &tfaot_row_sum_f32_##level, &tfaot_softmax_f32_##level,                                 \
        &tfaot_winograd_convolution_f32_##level                                                 \
  }

extern "C" {
#if defined(__x86_64__)
TFAOT_DECLARE(x86_64)
TFAOT_DECLARE(x86_64_v3)
TFAOT_DECLARE(x86_64_v4)
#else
TFAOT_DECLARE(generic)
#endif
}

namespace tfaot::kernels_benchmark {

struct Level {
  const char* name;
  Kernel matmul, matmul_f64, convolution, depthwise, max_pool, sum_pool, resize, transposed, lstm,
      gru, rnn, top_k, gather, narrow_matmul, gelu, group_norm, layer_norm, row_sum, softmax,
      winograd;
};

}  // namespace tfaot::kernels_benchmark
