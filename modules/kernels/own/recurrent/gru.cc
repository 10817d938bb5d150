// SPDX-License-Identifier: Apache-2.0
// tfaot_gru of abi.h.
#include "recurrent/recurrent.h"

namespace {

struct Gru : CellOfOnePanel {
  static constexpr int kGates = 3;  // update, reset, candidate
  static constexpr int kSums = 4;   // the candidate's input and state stay apart
  static constexpr int kInputs = 3;
  static constexpr bool kMemory = false;
  static constexpr int sum_of(int gate, bool of_state) { return gate == 2 && of_state ? 3 : gate; }

  static TFAOT_INLINE void prepare(float* sums, const float* /*memory*/) {
    float* const candidate = sums + 2 * kPanel;
    store(candidate,
          load(candidate) + load(sums + 3 * kPanel) / sigmoid_divisor(load(sums + kPanel)));
  }
  static TFAOT_INLINE Floats next(const RecurrentCall& /*call*/, const float* sums,
                                  const float* before, const float* /*memory*/) {
    const Floats candidate = tanh_of(load(sums + 2 * kPanel));
    return multiply_add(load(before) - candidate, 1.0F / sigmoid_divisor(load(sums)), candidate);
  }
};

}  // namespace

extern "C" void TFAOT_KERNEL(gru)(void* out, const void** in) { run_recurrent<Gru>(out, in); }
