// SPDX-License-Identifier: Apache-2.0
// tfaot_lstm of abi.h.
#include "recurrent/recurrent.h"

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

  // A sigmoid times a tanh is one division.
  static TFAOT_INLINE Floats sigmoid_times_tanh(Floats of_sigmoid, Floats of_tanh) {
    const TanhParts parts = tanh_parts(of_tanh);
    return with_sign_of(of_tanh, parts.above / (sigmoid_divisor(of_sigmoid) * parts.below));
  }

  static constexpr bool kPrepares = true;
  static TFAOT_INLINE void prepare(const float* sums, float* memory) {
    store(memory, load(memory) / sigmoid_divisor(load(sums + kPanel)) +
                      sigmoid_times_tanh(load(sums), load(sums + 2 * kPanel)));
  }
  static TFAOT_INLINE Floats next(const RecurrentCall& /*call*/, const float* sums,
                                  const float* /*before*/, const float* memory) {
    return sigmoid_times_tanh(load(sums + 3 * kPanel), load(memory));
  }
};

}  // namespace

extern "C" void TFAOT_KERNEL(lstm)(void* out, const void** in) {
  const auto& call = *static_cast<const RecurrentCall*>(in[0]);
  Recurrence<Lstm>(call, in, static_cast<void* const*>(out)).run(live_rows(call, in, 6));
}
