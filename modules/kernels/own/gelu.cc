// SPDX-License-Identifier: Apache-2.0
// tfaot_gelu of rows.h.
#include "gelu.h"

#include "gemm.h"
#include "lanes.h"
#include "tfaot/kernels/rows.h"

extern "C" void TFAOT_KERNEL(gelu)(void* out, const void** in) {
  const auto& call = *static_cast<const tfaot::kernels::GeluCall*>(in[0]);
  const auto* const x = static_cast<const float*>(in[1]);
  auto* const y = static_cast<float*>(out);
  along_row(call.size,
            [&](Int j, Int count) { store_some(y + j, gelu_of(load_some(x + j, count)), count); });
}
