// SPDX-License-Identifier: Apache-2.0
// tfaot_lstm of abi.h.
#include "recurrent/recurrent.h"

namespace {

struct Lstm : CellOfOnePanel {
  static constexpr int kGates = 4;  // input, forget, candidate, output
  static constexpr int kSums = 4;
  static constexpr int kInputs = 4;
  static constexpr bool kMemory = true;
  static constexpr int sum_of(int gate, bool /*of_state*/) { return gate; }

  // A sigmoid times a tanh is one division.
  static TFAOT_INLINE Floats sigmoid_times_tanh(Floats of_sigmoid, Floats of_tanh) {
    const TanhParts parts = tanh_parts(of_tanh);
    return with_sign_of(of_tanh, parts.above / (sigmoid_divisor(of_sigmoid) * parts.below));
  }

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

extern "C" void TFAOT_KERNEL(lstm)(void* out, const void** in) { run_recurrent<Lstm>(out, in); }
