// SPDX-License-Identifier: Apache-2.0
// tfaot_gelu of abi.h.
#include "simd/functions.h"

namespace {

template <GeluForm kForm>
TFAOT_INLINE void gelu(float* y, const float* x, Int size) {
  along_row(size, [&](Int j, Int count) {
    store_some(y + j, gelu_of<kForm>(load_some(x + j, count)), count);
  });
}

}  // namespace

extern "C" void TFAOT_KERNEL(gelu)(void* out, const void** in) {
  const auto& call = call_of<GeluCall>(in);
  const auto* const x = operand(in, 1);
  auto* const y = static_cast<float*>(out);
  constexpr Int kUnit = 64;  // whole vectors, and whole lines of the caches
  share_rows(call.size, kUnit, call.shared, in + 2, [&](Int first, Int end) {
    if (call.form == kGeluTanh) {
      gelu<kGeluTanh>(y + first, x + first, end - first);
    } else {
      gelu<kGeluErf>(y + first, x + first, end - first);
    }
  });
}
