// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/fake_model.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace {

void expect(bool holds, const char* what) {
  if (!holds) tfaot_test::calls().failure = what;
}

bool aligned(const void* data, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(data) % to == 0;
}

void note_call(std::size_t batch, const void* input, const void* output) {
  tfaot_test::Calls& calls = tfaot_test::calls();
  if (calls.count < 64) calls.batches[calls.count] = batch;
  ++calls.count;
  calls.last_batch = batch;
  calls.last_input = input;
  calls.last_output = output;
}

// Each array is used to its full size, so that asan detects a buffer that is too small.
void run_fake(std::size_t batch, void* result, const void* options, const void** arguments,
              void** table, void* status, std::int64_t* counters) {
  expect(options == nullptr && arguments == nullptr && status == nullptr && counters == nullptr,
         "unused arguments");
  expect(result == table[6], "result");
  expect(table[2] == nullptr, "unused slot");
  expect(aligned(table[1], 64) && aligned(table[5], 64) && aligned(table[6], 64), "fixed slots");
  for (const int slot : {0, 3, 4, 7}) expect(aligned(table[slot], 16), "caller's memory");
  const float* x = static_cast<const float*>(table[0]);
  const std::int64_t* n = static_cast<const std::int64_t*>(table[3]);
  float weight = 0;
  std::memcpy(&weight, table[1], sizeof weight);
  float* scratch = static_cast<float*>(table[5]);
  float* sum = static_cast<float*>(table[7]);
  bool* flag = static_cast<bool*>(table[4]);
  for (std::size_t i = 0; i < batch; ++i) scratch[i] = x[3 * i] + x[3 * i + 1] + x[3 * i + 2];
  for (std::size_t i = 0; i < batch; ++i) {
    sum[2 * i] = weight * scratch[i];
    sum[2 * i + 1] = static_cast<float>(n[2 * i] + n[2 * i + 1]);
    flag[i] = x[3 * i] > 0;
  }
  static_cast<void**>(result)[0] = sum;
  static_cast<void**>(result)[1] = flag;
  note_call(batch, x, sum);
}

void run_plain(std::size_t batch, void* result, void** table, float added = 1) {
  expect(result == table[1], "result");
  const float* x = static_cast<const float*>(table[0]);
  float* y = static_cast<float*>(table[1]);
  for (std::size_t i = 0; i < 4 * batch; ++i) y[i] = x[i] + added;
  note_call(batch, x, y);
  if (const auto hook = std::exchange(tfaot_test::while_running(), nullptr)) hook();
}

}  // namespace

namespace tfaot_test {

std::function<void()>& while_running() {
  thread_local std::function<void()> hook;
  return hook;
}

Calls& calls() {
  thread_local Calls calls;
  return calls;
}

}  // namespace tfaot_test

extern "C" {

// 2.5F, little-endian, at offset 64.
alignas(64) const unsigned char tfaot_test_fake_weights[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,   0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,   0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0x40};

#define TFAOT_TEST_FAKE(N)                                                              \
  void tfaot_test_fake_bs##N(void* result, const void* options, const void** arguments, \
                             void** table, void* status, std::int64_t* counters) {      \
    run_fake(N, result, options, arguments, table, status, counters);                   \
  }
TFAOT_TEST_FAKE(1)
TFAOT_TEST_FAKE(2)
TFAOT_TEST_FAKE(4)
TFAOT_TEST_FAKE(8)

void tfaot_test_plain_bs4(void* result, const void*, const void**, void** table, void*,
                          std::int64_t*) {
  run_plain(4, result, table);
}
void tfaot_test_plain_bs16(void* result, const void*, const void**, void** table, void*,
                           std::int64_t*) {
  run_plain(16, result, table);
}

void tfaot_test_abacus_bs4(void* result, const void*, const void**, void** table, void*,
                           std::int64_t*) {
  run_plain(4, result, table, 100);
}
void tfaot_test_abacus_bs16(void* result, const void*, const void**, void** table, void*,
                            std::int64_t*) {
  run_plain(16, result, table, 100);
}

}  // extern "C"
