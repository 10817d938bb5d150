// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/code_listing.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CodeListing, CallsOfKernelsAreMarked) {
  const CodeListing listing = marked_listing(
      "declare void @tfaot_matmul_f32(ptr, ptr)\n"
      "  call void @tfaot_matmul_f32(ptr %1, ptr %2)\n"
      "  call void @tfaot_matmul_f32_x86_64_v3(ptr %1, ptr %2)\n"
      "  R_X86_64_GOT64\ttfaot_matmul_f32-0x4\n"
      "  call void @not_tfaot_matmul_f32(ptr %1, ptr %2)\n",
      {"tfaot_matmul_f32"});
  EXPECT_THAT(listing.calls, ElementsAre(2, 4));
}

TEST(CodeListing, FunctionsThatComputeTensorsAreKernels) {
  for (const char* symbol :
       {"tfaot_matmul_f32_x86_64_v3", "__xla_cpu_runtime_EigenSingleThreadedConv2DF32",
        "__xla_cpu_runtime_KeyValueSort", "__xla_cpu_runtime_TopKF32",
        "__xla_cpu_runtime_DuccFft"}) {
    EXPECT_TRUE(is_kernel_symbol(symbol)) << symbol;
  }
  for (const char* symbol : {"__xla_cpu_runtime_StatusIsSuccess", "__xla_cpu_runtime_TracingStart",
                             "__xla_cpu_runtime_ParallelForkJoin"}) {
    EXPECT_FALSE(is_kernel_symbol(symbol)) << symbol;
  }
}

TEST(CodeListing, WithoutKernels) {
  EXPECT_THAT(marked_listing("  ret void\n", {}).calls, IsEmpty());
}

TEST(CodeListing, AMissingObject) {
  const auto listing = disassembled("/nowhere/a.o", {});
  ASSERT_FALSE(listing);
  EXPECT_THAT(listing.error().message(), HasSubstr("objdump"));
}

}  // namespace
}  // namespace tfaot::toolkit
