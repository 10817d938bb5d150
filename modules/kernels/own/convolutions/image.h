// SPDX-License-Identifier: Apache-2.0
// Input images as windows see them: finds the padding, and makes a copy of an image with its
// padding and base dilation written out.
#pragma once

#include "simd/kernel.h"

namespace {

using tfaot::kernels::ConvolutionCall;
using tfaot::kernels::kSpatial;
using tfaot::kernels::Phase;
using tfaot::kernels::Window;

// The operands after the filter in in[].
struct MoreOperands {
  const Element* bias;             // null: none
  const Element* addends;          // null: none
  const ResultFunction* function;  // null: none
  Int images;                      // of the batch that count
  tfaot::Tasks* tasks;             // null: the caller computes them alone
};

TFAOT_INLINE MoreOperands more_operands(const ConvolutionCall& call, const void** in) {
  using namespace tfaot::kernels;
  const void** next = in + 3;
  MoreOperands more = {nullptr, nullptr, nullptr, call.batch, nullptr};
  if ((call.epilogue & kEpilogueBias) != 0) more.bias = static_cast<const Element*>(*next++);
  if ((call.epilogue & kEpilogueSum) != 0) more.addends = static_cast<const Element*>(*next++);
  more.function = function_at(call.epilogue, next);
  if ((call.epilogue & kEpilogueLive) != 0) {
    more.images = smaller(call.batch, call.live_images * *static_cast<const Int*>(*next++));
  }
  if ((call.epilogue & kEpilogueShared) != 0) more.tasks = tasks_at(*next);
  return more;
}

// Calls use(phases) for each combination of a phase of each dimension, in the order of window.h.
template <typename Use>
void for_each_phase(const Window& w, const Use& use) {
  Phase phase[kSpatial];
  for (Int i = 0; i < tfaot::kernels::phase_count(w, 0); ++i) {
    phase[0] = tfaot::kernels::phase_of(w, 0, i);
    for (Int j = 0; j < tfaot::kernels::phase_count(w, 1); ++j) {
      phase[1] = tfaot::kernels::phase_of(w, 1, j);
      for (Int k = 0; k < tfaot::kernels::phase_count(w, 2); ++k) {
        phase[2] = tfaot::kernels::phase_of(w, 2, k);
        use(phase);
      }
    }
  }
}

// The ordinary window of one phase.
inline Window window_of(const Phase (&phase)[kSpatial], const Window& window) {
  Window w = window;
  for (int d = 0; d < kSpatial; ++d) {
    w.out[d] = phase[d].out;
    w.size[d] = phase[d].size;
    w.stride[d] = phase[d].stride;
    w.window_dilation[d] = phase[d].dilation;
    w.pad_low[d] = phase[d].pad_low;
    w.base_dilation[d] = 1;
  }
  return w;
}

TFAOT_INLINE bool is_dilated(const Window& window) {
  for (int d = 0; d < kSpatial; ++d) {
    if (window.base_dilation[d] != 1) return true;
  }
  return false;
}

// The copy for which convolution_scratch_bytes() reserves room.
class PaddedImage {
 public:
  PaddedImage(const Window& window, Int channels) : window_(window), channels_(channels) {
    for (int d = 0; d < kSpatial; ++d) {
      low_[d] = larger(0, window.pad_low[d]);
      size_[d] = (window.in[d] - 1) * window.base_dilation[d] + 1 + low_[d] +
                 larger(0, window.pad_high[d]);
    }
  }

  Int size(int d) const { return size_[d]; }

  // Clears all that fill() does not write.
  void clear(Element* image) const {
    const bool dilated = is_dilated(window_);
    const Int line = size_[2] * channels_;
    for (Int i = 0; i < size_[0]; ++i) {
      for (Int j = 0; j < size_[1]; ++j, image += line) {
        if (dilated || !is_inside(0, i) || !is_inside(1, j)) {
          clear(image, line);
          continue;
        }
        const Int end = (low_[2] + window_.in[2]) * channels_;
        clear(image, low_[2] * channels_);
        clear(image + end, line - end);
      }
    }
  }

  // Copies an image, without its padding.
  void fill(Element* image, const Element* from) const {
    const Window& w = window_;
    const bool rows = w.base_dilation[2] == 1;
    const Int pieces = rows ? 1 : w.in[2];
    const Int piece = rows ? w.in[2] * channels_ : channels_;
    for (Int i = 0; i < w.in[0]; ++i) {
      for (Int j = 0; j < w.in[1]; ++j) {
        const Int row =
            (low_[0] + i * w.base_dilation[0]) * size_[1] + low_[1] + j * w.base_dilation[1];
        Element* to = image + (row * size_[2] + low_[2]) * channels_;
        for (Int k = 0; k < pieces; ++k) {
          copy_elements(to, from, piece);
          from += piece;
          to += w.base_dilation[2] * channels_;
        }
      }
    }
  }

 private:
  bool is_inside(int d, Int at) const { return at >= low_[d] && at < low_[d] + window_.in[d]; }
  static void clear(Element* from, Int elements) {
    __builtin_memset(from, 0, static_cast<unsigned long>(elements) * sizeof(Element));
  }

  const Window& window_;
  Int channels_;
  Int low_[kSpatial], size_[kSpatial];
};

}  // namespace
