// SPDX-License-Identifier: Apache-2.0
// tfaot_gelu of abi.h.
#include "simd/functions.h"

namespace {

template <GeluForm kForm>
TFAOT_INLINE void gelu(float* y, const float* x, Int size) {
  const GeluCurve<kForm> curve;
  along_row(size, [&](Int j, Int count) {
    const Floats v = load_some(x + j, count);
    store_some(y + j, v * curve.of(v), count);
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
