// SPDX-License-Identifier: Apache-2.0
// The peak of one core in fused multiply-adds of float32, by the widest vectors it has: the best of
// some short runs of twelve independent chains in registers. Prints GFLOP/s.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

constexpr long kSteps = 2'000'000;
constexpr int kChains = 12;
constexpr int kRuns = 15;

using Clock = std::chrono::steady_clock;

// One step is a multiply-add in every chain; inline assembly, so that none is optimised away.
__attribute__((target("avx512f"))) void run_avx512() {
  __m512 a[kChains];
  for (__m512& chain : a) chain = _mm512_set1_ps(0.1F);
  const __m512 x = _mm512_set1_ps(0.9999F);
  const __m512 y = _mm512_set1_ps(0.0001F);
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (__m512& chain : a) asm volatile("vfmadd213ps %2, %1, %0" : "+v"(chain) : "v"(x), "v"(y));
  }
}

__attribute__((target("avx2,fma"))) void run_avx2() {
  __m256 a[kChains];
  for (__m256& chain : a) chain = _mm256_set1_ps(0.1F);
  const __m256 x = _mm256_set1_ps(0.9999F);
  const __m256 y = _mm256_set1_ps(0.0001F);
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (__m256& chain : a) asm volatile("vfmadd213ps %2, %1, %0" : "+x"(chain) : "x"(x), "x"(y));
  }
}

double best_gflops(void (*run)(), int lanes) {
  double best = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = Clock::now();
    run();
    const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
    best = std::max(best, 2.0 * lanes * kChains * kSteps / spent.count());
  }
  return best;
}

}  // namespace

int main() {
  if (__builtin_cpu_supports("avx512f")) {
    std::printf("%.1f\n", best_gflops(run_avx512, 16));
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    std::printf("%.1f\n", best_gflops(run_avx2, 8));
  } else {
    std::fprintf(stderr, "fma_peak: this CPU has no fused multiply-add\n");
    return 1;
  }
  return 0;
}
