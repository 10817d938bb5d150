// SPDX-License-Identifier: Apache-2.0
// tfaot_rnn of abi.h.
#include "recurrent/recurrent.h"

namespace {

// Two panels of the state to a block: one alone would be too few sums.
struct Rnn {
  static constexpr int kGates = 2;
  static constexpr int kSums = 2;
  static constexpr int kInputs = 2;
  static constexpr int kPanels = 2;
  static constexpr bool kMemory = false;
  static constexpr int sum_of(int gate, bool /*of_state*/) { return gate; }
  static constexpr int gate_of(int /*sum*/) { return 0; }
  static constexpr int panel_of(int sum) { return sum; }

  static constexpr bool kPrepares = false;
  static TFAOT_INLINE Floats next(const RecurrentCall& call, const float* sums,
                                  const float* /*before*/, const float* /*memory*/) {
    return call.relu != 0 ? relu<float>(load(sums)) : tanh_of(load(sums));
  }
};

}  // namespace

extern "C" void TFAOT_KERNEL(rnn)(void* out, const void** in) { run_recurrent<Rnn>(out, in); }
