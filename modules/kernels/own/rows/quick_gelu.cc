// SPDX-License-Identifier: Apache-2.0
// tfaot_quick_gelu of abi.h.
#include "simd/functions.h"

extern "C" void TFAOT_KERNEL(quick_gelu)(void* out, const void** in) {
  const auto& call = call_of<QuickGeluCall>(in);
  const auto* const x = operand(in, 1);
  auto* const y = static_cast<float*>(out);
  const auto slope = static_cast<float>(call.slope);
  along_row(call.size, [&](Int j, Int count) {
    const Floats v = load_some(x + j, count);
    const Floats scaled = v * slope;
    // Below -87 sigmoid_divisor() stops growing.
    store_some(y + j, v * (scaled < -87.0F ? Floats{} : 1.0F / sigmoid_divisor(scaled)), count);
  });
}
