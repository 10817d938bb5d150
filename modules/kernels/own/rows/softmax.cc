// SPDX-License-Identifier: Apache-2.0
// tfaot_softmax of abi.h.
#include "rows/softmax_rows.h"
#include "simd/kernel.h"

extern "C" void TFAOT_KERNEL(softmax)(void* out, const void** in) {
  const auto& call = call_of<SoftmaxCall>(in);
  share_rows(call.rows, rows_together(call.columns), call.shared, in + 2, [&](Int first, Int end) {
    const SoftmaxRows some = with_scale_above_0(
        {static_cast<float*>(out) + first * call.columns, operand(in, 1) + first * call.columns,
         end - first, call.columns, call.columns, static_cast<float>(call.scale)});
    const bool is_done =
        in_registers(some.rows, some.columns, [&](auto of_group, auto vectors, Int row, Int rows) {
          const Int at = row * some.step;
          softmax_of_groups<of_group, vectors>(some.y + at, some.x + at, rows, some.columns,
                                               some.scale);
        });
    for (Int at = 0; !is_done && at < some.rows * some.step; at += some.step) {
      scale_row(some.y + at, some.columns,
                1.0F / row_exponentials(some.y + at, some.x + at, some.columns, some.scale));
    }
  });
}
