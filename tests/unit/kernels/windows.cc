// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/windows.h"

namespace tfaot::kernels_test {

Int elements(const Int (&size)[kSpatial]) { return size[0] * size[1] * size[2]; }

namespace {

// How many positions there are; 0: the window is wider than the padded image.
Int positions(const Window& w, int d) {
  const Int width = (w.in[d] - 1) * w.base_dilation[d] + 1 + w.pad_low[d] + w.pad_high[d];
  const Int reach = (w.size[d] - 1) * w.window_dilation[d] + 1;
  return width < reach ? 0 : (width - reach) / w.stride[d] + 1;
}

}  // namespace

Window random_window(Random& random, BaseDilation base_dilation) {
  Window w = {};
  const auto one_or = [&](Int most) { return random.one_in(2) ? 1 : random.between(1, most); };
  const Int used = random.between(1, kSpatial);
  const bool padded = random.one_in(2), plain = random.one_in(3);
  for (int d = 0; d < kSpatial; ++d) {
    do {
      const bool is_used = d >= kSpatial - used;
      w.in[d] = is_used ? random.between(1, 12) : 1;
      w.size[d] = is_used ? random.between(1, 4) : 1;
      w.stride[d] = is_used && !plain ? one_or(3) : 1;
      w.window_dilation[d] = is_used && !plain ? one_or(3) : 1;
      w.base_dilation[d] = is_used && !plain && base_dilation == BaseDilation::kAny ? one_or(3) : 1;
      w.pad_low[d] = is_used && padded ? random.between(-2, 4) : 0;
      w.pad_high[d] = is_used && padded ? random.between(-2, 4) : 0;
      w.out[d] = positions(w, d);
    } while (w.out[d] == 0);
  }
  return w;
}

Window wide_window(Random& random) {
  constexpr Int kMostIn[kSpatial] = {1, 9, 45};
  Window w = {};
  const Int size = random.between(1, 7), stride = random.between(1, 3);
  const Int dilation = random.one_in(3) ? random.between(2, 4) : 1;
  for (int d = 0; d < kSpatial; ++d) {
    const bool is_used = d > 0;
    w.base_dilation[d] = w.stride[d] = w.window_dilation[d] = w.size[d] = 1;
    do {
      w.in[d] = random.between(1, kMostIn[d]);
      if (is_used) {
        w.size[d] = random.one_in(4) ? random.between(1, 7) : size;
        w.stride[d] = stride;
        w.window_dilation[d] = dilation;
        const Int padding = (w.size[d] - 1) * dilation;
        w.pad_low[d] = random.one_in(3) ? random.between(0, padding + 1) : padding / 2;
        w.pad_high[d] = random.one_in(3) ? random.between(0, padding + 1) : padding - padding / 2;
      }
      w.out[d] = positions(w, d);
    } while (w.out[d] == 0);
  }
  return w;
}

std::string describe(const Window& w) {
  std::string text;
  const auto add = [&](const char* name, const Int(&values)[kSpatial]) {
    text += std::string(" ") + name;
    for (const Int value : values) text += " " + std::to_string(value);
  };
  add("in", w.in);
  add("out", w.out);
  add("size", w.size);
  add("stride", w.stride);
  add("pad low", w.pad_low);
  add("high", w.pad_high);
  add("base dilation", w.base_dilation);
  add("window dilation", w.window_dilation);
  return text;
}

}  // namespace tfaot::kernels_test
