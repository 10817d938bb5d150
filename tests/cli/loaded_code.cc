// SPDX-License-Identifier: Apache-2.0
// What `tfaot run` loads in these tests, for the record that the fake engine writes: the outputs
// are the sum of a row, and the first weight's letter.
#include <cmath>
#include <cstdint>

extern "C" {
extern const unsigned char tfaot_loaded_weights[64];
alignas(64) const unsigned char tfaot_loaded_weights[64] = {'w'};
}

namespace {

void run_rows(int rows, void** table) {
  const float* x = static_cast<const float*>(table[0]);
  float* y = static_cast<float*>(table[1]);
  for (int row = 0; row < rows; ++row) {
    y[2 * row] = 0;
    for (int i = 0; i < 10; ++i) y[2 * row] += x[10 * row + i];
    y[2 * row + 1] = static_cast<float>(*static_cast<const unsigned char*>(table[3]));
  }
}

}  // namespace

extern "C" {
void tfaot_loaded_bs1(void*, const void*, const void**, void** table, void*, std::int64_t*) {
  run_rows(1, table);
}
void tfaot_loaded_bs4(void*, const void*, const void**, void** table, void*, std::int64_t*) {
  run_rows(4, table);
}
// Row 2 differs in the last bit of its first number.
void tfaot_loaded_bs4_off(void*, const void*, const void**, void** table, void*, std::int64_t*) {
  run_rows(4, table);
  float* const y = static_cast<float*>(table[1]);
  y[4] = std::nextafter(y[4], 1e9F);
}
// A row depends on the one before it.
void tfaot_loaded_bs4_mixed(void*, const void*, const void**, void** table, void*, std::int64_t*) {
  run_rows(4, table);
  float* const y = static_cast<float*>(table[1]);
  if (std::isnan(y[0])) y[2] += 1;
}
}
