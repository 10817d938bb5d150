// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/window.h"

#include <algorithm>
#include <iterator>

namespace tfaot::toolkit::engine {

kernels::Window kernel_window(const std::vector<SpatialDimension>& spatial) {
  kernels::Window window{};
  for (int d = 0; d < kernels::kSpatial; ++d) {
    window.in[d] = window.out[d] = window.size[d] = window.stride[d] = 1;
    window.base_dilation[d] = window.window_dilation[d] = 1;
  }
  const int first = kernels::kSpatial - static_cast<int>(spatial.size());
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const int d = first + static_cast<int>(i);
    const xla::WindowDimension& from = *spatial[i].window;
    window.in[d] = spatial[i].in;
    window.out[d] = spatial[i].out;
    window.size[d] = from.size();
    window.stride[d] = from.stride();
    window.pad_low[d] = from.padding_low();
    window.pad_high[d] = from.padding_high();
    window.base_dilation[d] = from.base_dilation();
    window.window_dilation[d] = from.window_dilation();
  }
  return window;
}

bool has_base_dilation(const kernels::Window& window) {
  return std::any_of(std::begin(window.base_dilation), std::end(window.base_dilation),
                     [](std::int64_t dilation) { return dilation != 1; });
}

std::int64_t met_taps(const kernels::Window& window) {
  std::int64_t all = 1;
  for (int d = 0; d < kernels::kSpatial; ++d) {
    std::int64_t taps = 0;
    for (std::int64_t i = 0; i < kernels::phase_count(window, d); ++i) {
      const kernels::Phase phase = kernels::phase_of(window, d, i);
      taps += phase.size * phase.out;
    }
    all *= taps;
  }
  return all;
}

}  // namespace tfaot::toolkit::engine
