// SPDX-License-Identifier: Apache-2.0
// Prints how many numbers of a row differ between the row alone and in a batch.
#include <cmath>
#include <cstring>
#include <iostream>

#include "rows/header.h"

int main() {
  rows batch;
  rows_bs1 alone;
  for (int i = 0; i < 4 * 48; ++i)
    batch.arg0_data()[i] = std::sin(1.7F + 2.1F * static_cast<float>(i));
  if (!batch.Run()) return 1;
  int different = 0;
  for (int row = 0; row < 4; ++row) {
    std::memcpy(alone.arg0_data(), batch.arg0_data() + row * 48, 48 * sizeof(float));
    if (!alone.Run()) return 1;
    if (alone.result0_data()[0] != batch.result0_data()[row]) ++different;
  }
  std::cout << different << " rows differ\n";
}
