// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/allowed_calls.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

TEST(AllowedCalls, HaveKinds) {
  const std::vector<std::pair<const char*, CallKind>> kinds = {
      {"tfaot_matmul_f32_x86_64_v3", CallKind::kRuntime},
      {"tfaot_a_kernel_of_next_year_f64_x86_64", CallKind::kRuntime},
      {"tfaot_matmul_f32_generic", CallKind::kRuntime},  // on aarch64
      {"tfaot_matmul_f32_of_another", CallKind::kForbidden},
      {"__xla_cpu_runtime_KeyValueSort", CallKind::kRuntime},
      {"__truncsfbf2", CallKind::kRuntime},
      {"__xla_cpu_runtime_DuccSingleThreadedFft", CallKind::kAllocating},
      {"__xla_cpu_runtime_EigenSingleThreadedMatMulC64", CallKind::kAllocating},
      {"__xla_cpu_runtime_EigenMatMulC64", CallKind::kForbidden},
      {"memcpy", CallKind::kMemory},
      {"__divti3", CallKind::kCompiler},
      {"expf", CallKind::kMathematics},
      {"malloc", CallKind::kForbidden},
      {"free", CallKind::kForbidden},
      {"pthread_mutex_lock", CallKind::kForbidden},
      {"clock_gettime", CallKind::kForbidden},
      {"open", CallKind::kForbidden},
      {"syscall", CallKind::kForbidden},
      {"rand", CallKind::kForbidden},
      // Of the runtime, but not for code.
      {"tfaot_models_open", CallKind::kForbidden},
      {"__xla_cpu_runtime_ParallelForkJoin", CallKind::kForbidden},
      {"mem", CallKind::kForbidden},
      {"", CallKind::kForbidden}};
  for (const auto& [symbol, kind] : kinds) {
    EXPECT_STREQ(word_of(kind_of_call(symbol)), word_of(kind)) << symbol;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
