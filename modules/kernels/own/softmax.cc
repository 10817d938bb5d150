// SPDX-License-Identifier: Apache-2.0
// tfaot_softmax of rows.h.
#include "tfaot/kernels/rows.h"

#include "gemm.h"
#include "softmax_rows.h"

extern "C" void TFAOT_KERNEL(softmax)(void* out, const void** in) {
  const auto& call = *static_cast<const tfaot::kernels::SoftmaxCall*>(in[0]);
  SoftmaxRows all = {static_cast<float*>(out),
                     static_cast<const float*>(in[1]),
                     call.rows,
                     call.columns,
                     call.columns,
                     static_cast<float>(call.scale)};
  if (softmax_in_registers(all)) return;
  for (Int r = 0; r < all.rows; ++r, all.x += all.step, all.y += all.step) {
    scale_row(all.y, all.columns, 1.0F / row_exponentials(all.y, all.x, all.columns, all.scale));
  }
}
