// SPDX-License-Identifier: Apache-2.0
// ScatterElements names a place for each element, also where the indices are the same for whole
// rows, as the sums over edges of graph nets from PyTorch have them. Here scatters take such rows
// as windows, which XLA adds as vectors. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

Status widen_scatter_windows(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
