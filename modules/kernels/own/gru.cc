// SPDX-License-Identifier: Apache-2.0
// tfaot_gru of abi.h.
#include "recurrent.h"

namespace {

struct Gru {
  static constexpr int kGates = 3;  // update, reset, candidate
  static constexpr int kSums = 4;   // the candidate's input and state stay apart
  static constexpr int kInputs = 3;
  static constexpr int kPanels = 1;
  static constexpr bool kMemory = false;
  static constexpr int sum_of(int gate, bool of_state) { return gate == 2 && of_state ? 3 : gate; }
  static constexpr int gate_of(int sum) { return sum; }
  static constexpr int panel_of(int /*sum*/) { return 0; }

  static TFAOT_INLINE Floats next(const RecurrentCall& /*call*/, const Floats (&sums)[kSums],
                                  int /*panel*/, Floats before, Floats& /*memory*/) {
    const Floats candidate = tanh_of(sums[2] + sums[3] / sigmoid_divisor(sums[1]));
    return candidate + (before - candidate) / sigmoid_divisor(sums[0]);
  }
};

}  // namespace

extern "C" void TFAOT_KERNEL(gru)(void* out, const void** in) {
  const auto& call = *static_cast<const RecurrentCall*>(in[0]);
  Recurrence<Gru>(call, in, static_cast<void* const*>(out)).run(live_rows(call, in, 5));
}
