// SPDX-License-Identifier: Apache-2.0
// tfaot_gelu of rows.h.
#include "simd/functions.h"

#include "simd/kernel.h"

extern "C" void TFAOT_KERNEL(gelu)(void* out, const void** in) {
  const auto& call = *static_cast<const tfaot::kernels::GeluCall*>(in[0]);
  const auto* const x = static_cast<const float*>(in[1]);
  auto* const y = static_cast<float*>(out);
  constexpr Int kUnit = 64;  // whole vectors, and whole lines of the caches
  share_rows(call.size, kUnit, call.shared, in + 2, [&](Int first, Int end) {
    if (call.form == tfaot::kernels::kGeluTanh) {
      gelu_row<tfaot::kernels::kGeluTanh>(y + first, x + first, end - first);
    } else {
      gelu_row<tfaot::kernels::kGeluErf>(y + first, x + first, end - first);
    }
  });
}
