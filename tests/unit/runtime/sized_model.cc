// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/sized_model.h"

#include <algorithm>

namespace {

// Tensors lie as at the actual sizes. All of the memory that the tables promise is used.
void run_sized(std::size_t batch, void* result, void** table) {
  const float* const x = static_cast<const float*>(table[0]);
  const float* const w = static_cast<const float*>(table[1]);
  const auto* const sizes = static_cast<const std::int64_t*>(table[2]);
  float* const total = static_cast<float*>(table[3]);
  float* const each = static_cast<float*>(table[4]);
  const auto n = static_cast<std::size_t>(sizes[0]);
  const auto k = static_cast<std::size_t>(sizes[1]);
  if (result != table[5]) tfaot_test::calls().failure = "result";
  std::fill_n(each, 46 * batch + tfaot::kElementsBeyond, -1.0F);
  for (std::size_t row = 0; row < batch; ++row) {
    float* const to = each + row * (n + k);
    for (std::size_t i = 0; i < n; ++i) {
      const float* const from = x + (row * n + i) * 3;
      to[i] = from[0] + from[1] + from[2];
    }
    std::copy_n(w + row * k, k, to + n);
    total[2 * row] = std::accumulate(to, to + n, 0.0F);
    total[2 * row + 1] = std::accumulate(to + n, to + n + k, 0.0F);
  }
  static_cast<void**>(result)[0] = total;
  static_cast<void**>(result)[1] = each;
  tfaot_test::Calls& calls = tfaot_test::calls();
  if (calls.count < 64) calls.batches[calls.count] = batch;
  ++calls.count;
}

}  // namespace

extern "C" {
void tfaot_test_sized_bs1(void* result, const void*, const void**, void** table, void*,
                          std::int64_t*) {
  run_sized(1, result, table);
}
void tfaot_test_sized_bs4(void* result, const void*, const void**, void** table, void*,
                          std::int64_t*) {
  run_sized(4, result, table);
}
}
