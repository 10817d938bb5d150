// SPDX-License-Identifier: Apache-2.0
// A window over a dilated input as ordinary windows, and the call of tfaot_transposed_convolution;
// abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/panels.h"
#include "tfaot/kernels/window.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// A window over a dilated input, along one dimension: results that are `step` apart meet the same
// taps, and these meet the input as it is. So each of the phases is an ordinary window.
struct Phase {
  std::int64_t first, step, out;           // results first, first + step, ...: so many
  std::int64_t first_tap, tap_step, size;  // taps first_tap, ...; size 0: they only meet zeros
  std::int64_t stride, dilation, pad_low;  // of the ordinary window
};

constexpr std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}

// At least one; each has at least one result.
constexpr std::int64_t phase_count(const Window& w, int d) {
  if (w.base_dilation[d] == 1) return 1;
  const std::int64_t count = w.base_dilation[d] / greatest_divisor(w.base_dilation[d], w.stride[d]);
  return count < w.out[d] ? count : w.out[d];
}

constexpr Phase phase_of(const Window& w, int d, std::int64_t number) {
  const std::int64_t base = w.base_dilation[d];
  if (base == 1) {  // without the divisions, which take as long as a small image
    return {0, 1, w.out[d], 0, 1, w.size[d], w.stride[d], w.window_dilation[d], w.pad_low[d]};
  }
  const std::int64_t step = base / greatest_divisor(base, w.stride[d]);
  const std::int64_t tap_step = base / greatest_divisor(base, w.window_dilation[d]);
  Phase phase{number, step, (w.out[d] - number + step - 1) / step, 0, tap_step, 0, 0, 0, 0};
  phase.stride = w.stride[d] * step / base;
  phase.dilation = w.window_dilation[d] * tap_step / base;
  for (std::int64_t tap = 0; tap < tap_step && tap < w.size[d]; ++tap) {
    const std::int64_t before = w.pad_low[d] - number * w.stride[d] - tap * w.window_dilation[d];
    if (before % base != 0) continue;
    phase.first_tap = tap;
    phase.size = (w.size[d] - tap + tap_step - 1) / tap_step;
    phase.pad_low = before / base;
    break;
  }
  return phase;
}

// What all phases together need before and after the input.
struct Padding {
  std::int64_t low, high;
};
constexpr Padding phase_padding(const Window& w, int d) {
  Padding padding{0, 0};
  for (std::int64_t i = 0; i < phase_count(w, d); ++i) {
    const Phase p = phase_of(w, d, i);
    if (p.size == 0) continue;
    const std::int64_t end =
        (p.out - 1) * p.stride + (p.size - 1) * p.dilation + 1 - p.pad_low - w.in[d];
    if (p.pad_low > padding.low) padding.low = p.pad_low;
    if (end > padding.high) padding.high = end;
  }
  return padding;
}

// tfaot_transposed_convolution: the same as tfaot_convolution for a window of any base dilation,
// with the taps of each phase packed for themselves: for each phase of the first dimension, each of
// the second and each of the third, what in[2] is for a window of the phase's size.
// Scratch: transposed_scratch_bytes().

// One input image with what the phases need around it.
constexpr std::int64_t transposed_scratch_bytes(const ConvolutionCall& call,
                                                std::int64_t element_bytes) {
  std::int64_t elements = call.in_channels;
  for (int d = 0; d < kSpatial; ++d) {
    const Padding padding = phase_padding(call.window, d);
    elements *= padding.low + call.window.in[d] + padding.high;
  }
  return elements * element_bytes + kPanelBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
