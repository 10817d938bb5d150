// SPDX-License-Identifier: Apache-2.0
// The code of the tests' package by XLA's calling convention: y = 10 * x + weight, two numbers for
// each row. Each entry adds what tells it from the others.
#include <cstdint>

// What the test's record says: input, output, weight, the table of results.
extern "C" {
extern const float load_test_weights[16];
alignas(64) const float load_test_weights[16] = {0.25F};
}

namespace {

void run_batch(int rows, float added, void* result, void** table) {
  const float* x = static_cast<const float*>(table[0]);
  float* y = static_cast<float*>(table[1]);
  const float* weight = static_cast<const float*>(table[2]);
  for (int i = 0; i < 2 * rows; ++i) {
    y[i] = 10 * x[i] + (weight == nullptr ? 0 : *weight) + added;
  }
  static_cast<void**>(result)[0] = y;
}

}  // namespace

extern "C" {
void load_test_bs1(void* result, const void*, const void**, void** table, void*, std::int64_t*) {
  run_batch(1, 1000, result, table);
}
void load_test_bs4(void* result, const void*, const void**, void** table, void*, std::int64_t*) {
  run_batch(4, 4000, result, table);
}
void load_test_bs1_better(void* result, const void*, const void**, void** table, void*,
                          std::int64_t*) {
  run_batch(1, 1500, result, table);
}
void load_test_bs4_better(void* result, const void*, const void**, void** table, void*,
                          std::int64_t*) {
  run_batch(4, 4500, result, table);
}
}
