// SPDX-License-Identifier: Apache-2.0
// tfaot_softmax of abi.h.
#include "rows/softmax_rows.h"
#include "simd/kernel.h"

extern "C" void TFAOT_KERNEL(softmax)(void* out, const void** in) {
  const auto& call = call_of<SoftmaxCall>(in);
  share_rows(call.rows, rows_together(call.columns), call.shared, in + 2, [&](Int first, Int end) {
    SoftmaxRows some = with_scale_above_0(
        {static_cast<float*>(out) + first * call.columns, operand(in, 1) + first * call.columns,
         end - first, call.columns, call.columns, static_cast<float>(call.scale)});
    if (softmax_in_registers(some)) return;
    for (Int r = first; r < end; ++r, some.x += some.step, some.y += some.step) {
      scale_row(some.y, some.columns,
                1.0F / row_exponentials(some.y, some.x, some.columns, some.scale));
    }
  });
}
