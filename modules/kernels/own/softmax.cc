// SPDX-License-Identifier: Apache-2.0
// tfaot_softmax of rows.h.
#include "gemm.h"
#include "softmax_rows.h"
#include "tfaot/kernels/rows.h"

extern "C" void TFAOT_KERNEL(softmax)(void* out, const void** in) {
  const auto& call = *static_cast<const tfaot::kernels::SoftmaxCall*>(in[0]);
  softmax_rows(static_cast<float*>(out), static_cast<const float*>(in[1]), call.rows, call.columns,
               call.columns, static_cast<float>(call.scale));
}
