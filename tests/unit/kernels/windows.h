// SPDX-License-Identifier: Apache-2.0
// Random windows, and a plain loop over the elements that a window covers at one position.
#pragma once

#include <string>

#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {

using kernels::kSpatial;
using kernels::Window;

enum class BaseDilation { kNone, kAny };

// Of at least one position. One spatial dimension, two or three.
Window random_window(Random& random, BaseDilation base_dilation);
// Over a plane of long rows, with up to seven taps each way: as many positions as tiles of several
// take, some windows beyond the image, and rows of many channels that do not fit into a cache.
Window wide_window(Random& random);
std::string describe(const Window& window);
Int elements(const Int (&size)[kSpatial]);

// meet(tap, pixel) for every tap of the window at `position` that meets an input pixel.
template <typename Meet>
void for_each_tap(const Window& w, Int position, const Meet& meet) {
  const Int at[kSpatial] = {position / w.out[2] / w.out[1], position / w.out[2] % w.out[1],
                            position % w.out[2]};
  for (Int tap = 0; tap < elements(w.size); ++tap) {
    const Int k[kSpatial] = {tap / w.size[2] / w.size[1], tap / w.size[2] % w.size[1],
                             tap % w.size[2]};
    Int pixel = 0;
    bool inside = true;
    for (int d = 0; d < kSpatial; ++d) {
      const Int i = at[d] * w.stride[d] + k[d] * w.window_dilation[d] - w.pad_low[d];
      inside = inside && i >= 0 && i % w.base_dilation[d] == 0 && i / w.base_dilation[d] < w.in[d];
      pixel = pixel * w.in[d] + i / w.base_dilation[d];
    }
    if (inside) meet(tap, pixel);
  }
}

}  // namespace tfaot::kernels_test
