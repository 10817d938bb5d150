// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/levels.h"

#include <algorithm>

#include "tfaot/runtime/detail/cpu_features.h"

#define DECLARE(type, level)                                            \
  void tfaot_add_rows_##type##_##level(void*, const void**);            \
  void tfaot_matmul_##type##_##level(void*, const void**);              \
  void tfaot_convolution_##type##_##level(void*, const void**);         \
  void tfaot_depthwise_##type##_##level(void*, const void**);           \
  void tfaot_forest_##type##_##level(void*, const void**);              \
  void tfaot_gather_##type##_##level(void*, const void**);              \
  void tfaot_grouped_convolution_##type##_##level(void*, const void**); \
  void tfaot_largest_pool_##type##_##level(void*, const void**);        \
  void tfaot_max_pool_##type##_##level(void*, const void**);            \
  void tfaot_range_pool_##type##_##level(void*, const void**);          \
  void tfaot_resize_##type##_##level(void*, const void**);              \
  void tfaot_sum_pool_##type##_##level(void*, const void**);            \
  void tfaot_top_k_##type##_##level(void*, const void**);               \
  void tfaot_transposed_convolution_##type##_##level(void*, const void**);
#define KERNELS(type, level)                                                               \
  {                                                                                        \
    &tfaot_add_rows_##type##_##level, &tfaot_matmul_##type##_##level,                      \
        &tfaot_convolution_##type##_##level, &tfaot_depthwise_##type##_##level,            \
        &tfaot_forest_##type##_##level, &tfaot_gather_##type##_##level,                    \
        &tfaot_grouped_convolution_##type##_##level, &tfaot_largest_pool_##type##_##level, \
        &tfaot_max_pool_##type##_##level, &tfaot_range_pool_##type##_##level,              \
        &tfaot_resize_##type##_##level, &tfaot_sum_pool_##type##_##level,                  \
        &tfaot_top_k_##type##_##level, &tfaot_transposed_convolution_##type##_##level      \
  }
#define DECLARE_F32(level)                                   \
  void tfaot_attention_f32_##level(void*, const void**);     \
  void tfaot_dense_chain_f32_##level(void*, const void**);   \
  void tfaot_function_pool_f32_##level(void*, const void**); \
  void tfaot_gelu_f32_##level(void*, const void**);          \
  void tfaot_lstm_f32_##level(void*, const void**);          \
  void tfaot_group_norm_f32_##level(void*, const void**);    \
  void tfaot_gru_f32_##level(void*, const void**);           \
  void tfaot_layer_norm_f32_##level(void*, const void**);    \
  void tfaot_narrow_matmul_f32_##level(void*, const void**); \
  void tfaot_rnn_f32_##level(void*, const void**);           \
  void tfaot_row_sum_f32_##level(void*, const void**);       \
  void tfaot_softmax_f32_##level(void*, const void**);       \
  void tfaot_winograd_convolution_f32_##level(void*, const void**);
#define LEVEL(name, level)                                                                         \
  {                                                                                                \
    name, KERNELS(f32, level), KERNELS(f64, level), &tfaot_attention_f32_##level,                  \
        &tfaot_dense_chain_f32_##level, &tfaot_function_pool_f32_##level, &tfaot_gelu_f32_##level, \
        &tfaot_lstm_f32_##level, &tfaot_group_norm_f32_##level, &tfaot_gru_f32_##level,            \
        &tfaot_layer_norm_f32_##level, &tfaot_narrow_matmul_f32_##level, &tfaot_rnn_f32_##level,   \
        &tfaot_row_sum_f32_##level, &tfaot_softmax_f32_##level,                                    \
        &tfaot_winograd_convolution_f32_##level                                                    \
  }

extern "C" {
#if defined(__x86_64__)
DECLARE(f32, x86_64)
DECLARE(f64, x86_64)
DECLARE_F32(x86_64)
DECLARE(f32, x86_64_v3)
DECLARE(f64, x86_64_v3)
DECLARE_F32(x86_64_v3)
DECLARE(f32, x86_64_v4)
DECLARE(f64, x86_64_v4)
DECLARE_F32(x86_64_v4)
#else
DECLARE(f32, generic)
DECLARE(f64, generic)
DECLARE_F32(generic)
#endif
}

namespace tfaot::kernels_test {

const std::vector<Level>& all_levels() {
  static const std::vector<Level> kLevels = {
#if defined(__x86_64__)
    LEVEL("x86-64", x86_64),
    LEVEL("x86-64-v3", x86_64_v3),
    LEVEL("x86-64-v4", x86_64_v4)
#else
    LEVEL("generic", generic)
#endif
  };
  return kLevels;
}

bool runs_here(const Level& level) {
  const std::vector<std::string> here = detect_cpu_levels();
  return std::find(here.begin(), here.end(), level.name) != here.end();
}

std::string name_of_level(const ::testing::TestParamInfo<Level>& level) {
  std::string name = level.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace tfaot::kernels_test
