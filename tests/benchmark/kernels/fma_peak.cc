// SPDX-License-Identifier: Apache-2.0
// The peak of one core with each level's vectors: independent multiply-adds in registers.
#include "candidates.h"
#include "measure.h"
#include "shapes.h"

namespace tfaot::kernels_benchmark {
namespace {

#if defined(__x86_64__)

#define TFAOT_TIMES_12(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11)
#define TFAOT_ZMM(i) "vfmadd231ps %%zmm12, %%zmm13, %%zmm" #i "\n"
#define TFAOT_YMM(i) "vfmadd231ps %%ymm12, %%ymm13, %%ymm" #i "\n"
#define TFAOT_CLOBBERED                                                                    \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

constexpr Int kSteps = 1000;

void multiply_add_512() {
  asm volatile("vpxord %%zmm12, %%zmm12, %%zmm12\nvpxord %%zmm13, %%zmm13, %%zmm13" ::
                   : TFAOT_CLOBBERED);
  for (Int i = 0; i < kSteps; ++i) asm volatile(TFAOT_TIMES_12(TFAOT_ZMM)::: TFAOT_CLOBBERED);
  asm volatile("vzeroupper" ::: TFAOT_CLOBBERED);
}

void multiply_add_256() {
  asm volatile("vxorps %%ymm12, %%ymm12, %%ymm12\nvxorps %%ymm13, %%ymm13, %%ymm13" ::
                   : TFAOT_CLOBBERED);
  for (Int i = 0; i < kSteps; ++i) asm volatile(TFAOT_TIMES_12(TFAOT_YMM)::: TFAOT_CLOBBERED);
  asm volatile("vzeroupper" ::: TFAOT_CLOBBERED);
}

void multiply_and_add_128() {
  for (Int i = 0; i < kSteps; ++i) {
    asm volatile(
        "mulps %%xmm12, %%xmm0\naddps %%xmm12, %%xmm1\nmulps %%xmm12, %%xmm2\n"
        "addps %%xmm12, %%xmm3\nmulps %%xmm12, %%xmm4\naddps %%xmm12, %%xmm5\n"
        "mulps %%xmm12, %%xmm6\naddps %%xmm12, %%xmm7\nmulps %%xmm12, %%xmm8\n"
        "addps %%xmm12, %%xmm9\nmulps %%xmm12, %%xmm10\naddps %%xmm12, %%xmm11\n" ::
            : TFAOT_CLOBBERED);
  }
}

#endif

}  // namespace

void measure_peak() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  measure("peak/x86-64", 12.0 * 4 * kSteps, multiply_and_add_128);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    measure("peak/x86-64-v3", 12.0 * 16 * kSteps, multiply_add_256);
  }
  if (__builtin_cpu_supports("avx512f")) {
    measure("peak/x86-64-v4", 12.0 * 32 * kSteps, multiply_add_512);
  }
#endif
}

}  // namespace tfaot::kernels_benchmark
