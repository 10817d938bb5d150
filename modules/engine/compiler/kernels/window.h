// SPDX-License-Identifier: Apache-2.0
// XLA's windows -> the kernels'. Pure functions.
#pragma once

#include <optional>

#include "compiler/hlo/hlo.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

// The window over these spatial dimensions of input and output; at most kernels::kSpatial.
// `spatial` lists, for each dimension of the kernel's window, XLA's dimension of it and the sizes.
struct SpatialDimension {
  const xla::WindowDimension* window;
  std::int64_t in, out;
};
kernels::Window kernel_window(const std::vector<SpatialDimension>& spatial);

bool has_base_dilation(const kernels::Window& window);
// How many taps all positions together have that do not meet zeros of the base dilation.
std::int64_t met_taps(const kernels::Window& window);

}  // namespace tfaot::toolkit::engine
