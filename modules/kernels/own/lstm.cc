// SPDX-License-Identifier: Apache-2.0
// tfaot_lstm of abi.h.
#include "recurrent.h"

namespace {

struct Lstm {
  static constexpr int kGates = 4;  // input, forget, candidate, output
  static constexpr int kSums = 4;
  static constexpr int kInputs = 4;
  static constexpr int kPanels = 1;
  static constexpr bool kMemory = true;
  static constexpr int sum_of(int gate, bool /*of_state*/) { return gate; }
  static constexpr int gate_of(int sum) { return sum; }
  static constexpr int panel_of(int /*sum*/) { return 0; }

  // A sigmoid times a tanh is one division: sigmoid(x) = 1 / (1 + exp(-x)), and tanh(x) is
  // tanh_part(x) / (tanh_part(x) + 2).
  static TFAOT_INLINE Floats next(const RecurrentCall& /*call*/, const Floats (&sums)[kSums],
                                  int /*panel*/, Floats /*before*/, Floats& memory) {
    const Floats candidate = tanh_part(sums[2]);
    memory =
        memory / exp_and_one(-sums[1]) + candidate / (exp_and_one(-sums[0]) * (candidate + 2.0F));
    const Floats shown = tanh_part(memory);
    return shown / (exp_and_one(-sums[3]) * (shown + 2.0F));
  }
};

}  // namespace

extern "C" void TFAOT_KERNEL(lstm)(void* out, const void** in) {
  const auto& call = *static_cast<const RecurrentCall*>(in[0]);
  Recurrence<Lstm>(call, in, static_cast<void* const*>(out)).run(live_rows(call, in, 6));
}
