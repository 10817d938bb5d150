// SPDX-License-Identifier: Apache-2.0
// Input images as windows see them: copies an image with its padding written out, and describes a
// convolution as a product.
#pragma once

#include "products/gemm.h"
#include "simd/kernel.h"

namespace {

TFAOT_INLINE EpilogueOperands epilogue_of(const ConvolutionCall& call, const void** in) {
  const bool is_padded = (call.epilogue & kEpilogueLive) != 0;
  return epilogue_operands(call.epilogue, call.batch, is_padded ? call.live_images : 0, in + 3);
}

// Elements of an image of the input, and of one of the result.
TFAOT_INLINE Int input_elements(const Window& w, Int channels) {
  return w.in[0] * w.in[1] * w.in[2] * channels;
}
TFAOT_INLINE Int result_elements(const Window& w, Int channels) {
  return w.out[0] * w.out[1] * w.out[2] * channels;
}

// Calls use(phases) for each combination of a phase of each dimension, in the order of abi.h.
template <typename Use>
void for_each_phase(const Window& w, const Use& use) {
  Phase phase[kSpatial];
  Int at[kSpatial] = {};
  for (int first = 0; first >= 0;) {  // the dimensions from `first` on have new phases
    TFAOT_ROLLED_FOR (int d = first; d < kSpatial; ++d) phase[d] = phase_of(w, d, at[d]);
    use(phase);
    first = kSpatial - 1;
    while (first >= 0 && ++at[first] == phase_count(w, first)) at[first--] = 0;
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

// The copy for which convolution_scratch_bytes() reserves room.
class PaddedImage {
 public:
  PaddedImage(const Window& window, Int channels) : window_(window), channels_(channels) {
    for (int d = 0; d < kSpatial; ++d) {
      low_[d] = larger(0, window.pad_low[d]);
      size_[d] = low_[d] + window.in[d] + larger(0, window.pad_high[d]);
    }
  }

  Int size(int d) const { return size_[d]; }

  // Copies an image, with zeros around it.
  void fill(Element* image, const Element* from) const {
    const Int before = low_[2] * channels_, line = window_.in[2] * channels_;
    const Int all = size_[2] * channels_;
    for (Int i = 0; i < size_[0]; ++i) {
      for (Int j = 0; j < size_[1]; ++j, image += all) {
        if (!is_inside(0, i) || !is_inside(1, j)) {
          clear(image, all);
          continue;
        }
        clear(image, before);
        copy_elements(image + before, from, line);
        clear(image + before + line, all - before - line);
        from += line;
      }
    }
  }

 private:
  bool is_inside(int d, Int at) const { return at >= low_[d] && at < low_[d] + window_.in[d]; }
  static void clear(Element* from, Int size) {
    along_row<Element>(size,
                       [&](Int j, Int count) { store_some(from + j, Vec<Element>{}, count); });
  }

  const Window& window_;
  Int channels_;
  Int low_[kSpatial], size_[kSpatial];
};

// The product whose rows are the positions of a window.

// The part that all groups and images share. `size`: of the image that is read.
inline Gemm product_of(const ConvolutionCall& call, const Int (&size)[kSpatial], Int images) {
  const Window& w = call.window;
  const Int pixel = call.in_channels;
  const Int step[kSpatial] = {size[1] * size[2] * pixel, size[2] * pixel, pixel};
  const bool runs_of_rows = call.groups == 1 && w.window_dilation[2] == 1;
  Gemm g = {};
  g.row_count[0] = images;
  g.row_step[0] = size[0] * step[0];
  for (int d = 0; d < kSpatial; ++d) {
    g.row_count[d + 1] = w.out[d];
    g.row_step[d + 1] = w.stride[d] * step[d];
    g.tap_count[d] = w.size[d];
    g.tap_step[d] = w.window_dilation[d] * step[d];
  }
  g.run = call.in_channels / call.groups;
  if (runs_of_rows) {
    g.run *= w.size[2];
    g.tap_count[2] = 1;
  }
  g.a_step = 1;
  g.b_step = kPanelColumns<Element>;
  g.b_panel = g.tap_count[0] * g.tap_count[1] * g.tap_count[2] * g.run * g.b_step;
  g.c_row = call.out_channels;
  set_columns(g, call.out_channels / call.groups);
  return g;
}

inline void multiply_groups(Gemm g, Int groups) {
  for (Int i = 0; i < groups; ++i) {
    TFAOT_KERNEL(gemm)(&g);
    g.a += g.run;
    g.b += ceil_div(g.columns, kPanelColumns<Element>) * g.b_panel;
    skip_columns(g, g.columns);
  }
}

}  // namespace
