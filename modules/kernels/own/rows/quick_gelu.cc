// SPDX-License-Identifier: Apache-2.0
// tfaot_quick_gelu of rows.h.
#include "simd/functions.h"

#include "simd/kernel.h"
#include "simd/lanes.h"

extern "C" void TFAOT_KERNEL(quick_gelu)(void* out, const void** in) {
  const auto& call = *static_cast<const tfaot::kernels::QuickGeluCall*>(in[0]);
  const auto* const x = static_cast<const float*>(in[1]);
  auto* const y = static_cast<float*>(out);
  const auto slope = static_cast<float>(call.slope);
  constexpr Int kUnit = 64;  // whole vectors, and whole lines of the caches
  share_rows(call.size, kUnit, call.shared, in + 2, [&](Int first, Int end) {
    along_row(end - first, [&](Int j, Int count) {
      const Floats zero = {};
      const Floats one = load_some(x + first + j, count);
      const Floats scaled = one * slope;
      // Below -87, where sigmoid_divisor() stops growing, the sigmoid is taken as 0.
      const Floats gate = scaled < -87.0F ? zero : 1.0F / sigmoid_divisor(scaled);
      store_some(y + first + j, one * gate, count);
    });
  });
}
