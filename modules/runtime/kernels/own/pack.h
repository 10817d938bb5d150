// SPDX-License-Identifier: Apache-2.0
// Packs a right-hand side that is known only at run time, as kernel_calls.h describes panels.
#pragma once

#include "gemm.h"

namespace {

// The panel of columns [0, columns) of b[l * depth_stride + j * column_stride].
TFAOT_INLINE void pack_panel(Element* to, const Element* b, Int depth, Int columns,
                             Int depth_stride, Int column_stride) {
  constexpr Int kColumns = kPanelColumns<Element>;
  if (column_stride == 1 && columns == kColumns) {
    for (Int l = 0; l < depth; ++l) {
      __builtin_memcpy(to + l * kColumns, b + l * depth_stride, tfaot::kernels::kPanelBytes);
    }
    return;
  }
  for (Int j = 0; j < kColumns; ++j) {
    for (Int l = 0; l < depth; ++l) {
      to[l * kColumns + j] = j < columns ? b[l * depth_stride + j * column_stride] : Element{0};
    }
  }
}

}  // namespace
