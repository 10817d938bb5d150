// SPDX-License-Identifier: Apache-2.0
// What a net's weights cost when nothing is done but reading them: the roof of batch size 1, where
// each weight is used once. Reads the given number of bytes, again and again, one line after the
// other, by the widest vectors there are, and prints the microseconds of the fastest pass.
//   read_roof BYTES...    prints one number a line
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

constexpr int kPasses = 400;
constexpr std::size_t kStep = 256;  // bytes
constexpr std::size_t kAhead = 1024;

using Clock = std::chrono::steady_clock;

// `ahead`: bytes that are asked for before they are read; which is faster depends on the caches.
template <bool kPrefetch>
__attribute__((target("avx512f"))) void read_avx512(const char* data, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kStep) {
    if (kPrefetch) {
      for (std::size_t j = 0; j < kStep; j += 64) _mm_prefetch(data + i + kAhead + j, _MM_HINT_T0);
    }
    for (std::size_t j = 0; j < kStep; j += 64) {
      asm volatile("" ::"v"(_mm512_loadu_ps(data + i + j)));
    }
  }
}

template <bool kPrefetch>
void read_sse(const char* data, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kStep) {
    if (kPrefetch) {
      for (std::size_t j = 0; j < kStep; j += 64) _mm_prefetch(data + i + kAhead + j, _MM_HINT_T0);
    }
    for (std::size_t j = 0; j < kStep; j += 16) {
      asm volatile("" ::"x"(
          _mm_loadu_ps(static_cast<const float*>(static_cast<const void*>(data + i + j)))));
    }
  }
}

double best_microseconds(std::size_t bytes) {
  const std::vector<char> data(bytes + kStep + kAhead, 1);
  const bool wide = __builtin_cpu_supports("avx512f") != 0;
  double best = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < kPasses; ++pass) {
    // Half of the passes with, half without: the caches settle in between.
    const bool prefetch = pass >= kPasses / 2;
    const auto start = Clock::now();
    if (wide) {
      (prefetch ? read_avx512<true> : read_avx512<false>)(data.data(), bytes);
    } else {
      (prefetch ? read_sse<true> : read_sse<false>)(data.data(), bytes);
    }
    const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
    best = std::min(best, spent.count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    const unsigned long bytes = std::strtoul(argv[i], &end, 10);
    if (*end != '\0' || bytes == 0) {
      std::fprintf(stderr, "read_roof: '%s' is not a number of bytes\n", argv[i]);
      return 2;
    }
    std::printf("%.2f\n", best_microseconds(bytes));
  }
  return argc > 1 ? 0 : 2;
}
