// SPDX-License-Identifier: Apache-2.0
// Our kernels at every CPU level of this machine's architecture, for tests and benchmarks: the rows
// of kernels.def and levels.def.
#pragma once

#include <string>
#include <vector>

#include "tfaot/kernels/levels.def"
#include "tfaot/runtime/detail/cpu_features.h"

#ifdef TFAOT_TEST_WATCHED
#include "tests/support/watched_kernels.h"
#define TFAOT_TESTED(symbol) tfaot_test::watch<&symbol>(#symbol, runs_here(*next))
#else
#define TFAOT_TESTED(symbol) &symbol
#endif

#define TFAOT_NO_ROW(...)
#define TFAOT_ASKED(feature) feature " "
#define TFAOT_IMPLIED(feature) feature " "
#define TFAOT_UNLISTED(feature)

extern "C" {
#define TFAOT_ROW_f32(kernel, level, suffix, ...) \
  void tfaot_##kernel##_f32_##suffix(void*, const void**);
#define TFAOT_ROW_f64(kernel, level, suffix, ...) \
  void tfaot_##kernel##_f64_##suffix(void*, const void**);
#define TFAOT_ROWS(type, kernel) TFAOT_LEVELS_HERE(TFAOT_ROW_##type, TFAOT_NO_ROW, kernel)
#define TFAOT_KERNEL_ROW(id, kernel, types, call, shared, scratch) types(TFAOT_ROWS, kernel)
#include "tfaot/kernels/kernels.def"
#undef TFAOT_ROWS
#undef TFAOT_ROW_f32
#undef TFAOT_ROW_f64
}

namespace tfaot::kernels_test {

using Kernel = void (*)(void* out, const void** in);

// Those of one element type; null where a kernel does not have it.
struct Kernels {
#define TFAOT_KERNEL_ROW(id, kernel, types, call, shared, scratch) Kernel kernel = nullptr;
#include "tfaot/kernels/kernels.def"
};

struct Level {
  std::string name;      // "x86-64-v3"
  std::string features;  // all that it needs, by LLVM's names
  Kernels f32 = {}, f64 = {};
};

inline bool runs_here(const Level& level) {
  return missing_features(level.features.c_str(), detect_cpu_features()).empty();
}

inline std::vector<Level> make_levels() {
  std::vector<Level> levels;
  std::string needed;
#define TFAOT_ADD(x, name, features) needed += "" features;
#define TFAOT_ADD_LEVEL(x, name, suffix, options, tuning, bytes, sums, rows, multiply_adds, \
                        by_default, features)                                               \
  needed += "" features;                                                                    \
  levels.push_back({name, needed});
  TFAOT_LEVELS_HERE(TFAOT_ADD_LEVEL, TFAOT_ADD, )
#define TFAOT_ROW_f32(kernel, level, suffix, ...) \
  next->f32.kernel = TFAOT_TESTED(tfaot_##kernel##_f32_##suffix), ++next;
#define TFAOT_ROW_f64(kernel, level, suffix, ...) \
  next->f64.kernel = TFAOT_TESTED(tfaot_##kernel##_f64_##suffix), ++next;
#define TFAOT_ROWS(type, kernel) \
  next = levels.data();          \
  TFAOT_LEVELS_HERE(TFAOT_ROW_##type, TFAOT_NO_ROW, kernel)
#define TFAOT_KERNEL_ROW(id, kernel, types, call, shared, scratch) types(TFAOT_ROWS, kernel)
  Level* next = nullptr;
#include "tfaot/kernels/kernels.def"
  return levels;
}

// From the least to the most demanding.
inline const std::vector<Level>& all_levels() {
  static const std::vector<Level> levels = make_levels();
  return levels;
}

}  // namespace tfaot::kernels_test
