// SPDX-License-Identifier: Apache-2.0
// The entry functions of fake_model.h's models, and what they saw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

extern "C" {
void tfaot_test_fake_bs1(void*, const void*, const void**, void**, void*, std::int64_t*);
void tfaot_test_fake_bs2(void*, const void*, const void**, void**, void*, std::int64_t*);
void tfaot_test_fake_bs4(void*, const void*, const void**, void**, void*, std::int64_t*);
void tfaot_test_fake_bs8(void*, const void*, const void**, void**, void*, std::int64_t*);
void tfaot_test_plain_bs4(void*, const void*, const void**, void**, void*, std::int64_t*);
void tfaot_test_plain_bs16(void*, const void*, const void**, void**, void*, std::int64_t*);
void tfaot_test_abacus_bs4(void*, const void*, const void**, void**, void*, std::int64_t*);
void tfaot_test_abacus_bs16(void*, const void*, const void**, void**, void*, std::int64_t*);
extern const unsigned char tfaot_test_fake_weights[];
}

namespace tfaot_test {

#if defined(__x86_64__)
inline constexpr char kBaseLevel[] = "x86-64";
#else
inline constexpr char kBaseLevel[] = "generic";
#endif
inline constexpr char kAbacusLevel[] = "abacus-v1";

// What the entry functions saw; reset by the tests.
struct Calls {
  int count = 0;
  std::size_t last_batch = 0;
  const void* last_input = nullptr;   // of input 0
  const void* last_output = nullptr;  // of output 0
  const char* failure = nullptr;      // what was wrong in a table
  std::size_t batches[64] = {};       // the first calls' batch sizes
};
Calls& calls();  // of this thread

std::function<void()>& while_running();  // of this thread: called once, by plain's next call

inline constexpr float kWeight = 2.5F;

}  // namespace tfaot_test
