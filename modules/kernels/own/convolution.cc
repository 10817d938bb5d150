// SPDX-License-Identifier: Apache-2.0
// tfaot_convolution of abi.h: a product whose rows are the windows' positions. No patches are
// gathered: the product reads the image in place or, with padding or base dilation, a copy of one
// image.
#include "gemm.h"
#include "image.h"

namespace {

using tfaot::kernels::ConvolutionCall;

// The part that is the same for every group and image. `size` belongs to the image that is read.
Gemm product_of(const ConvolutionCall& call, const Int (&size)[kSpatial], Int images) {
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
  g.columns = call.out_channels / call.groups;
  g.relu = (call.epilogue & tfaot::kernels::kEpilogueRelu) != 0;
  return g;
}

void multiply_groups(Gemm g, Int groups) {
  for (Int i = 0; i < groups; ++i) {
    TFAOT_KERNEL(gemm)(&g);
    g.a += g.run;
    g.b += ceil_div(g.columns, kPanelColumns<Element>) * g.b_panel;
    g.c += g.columns;
    if (g.bias != nullptr) g.bias += g.columns;
  }
}

void convolve(const ConvolutionCall& call, Element* c, const void** in, Element* scratch) {
  const Window& w = call.window;
  const auto* image = static_cast<const Element*>(in[1]);
  const bool copy = is_padded(w) || is_dilated(w);
  const PaddedImage padded(w, call.in_channels);
  Int size[kSpatial], first[kSpatial];
  for (int d = 0; d < kSpatial; ++d) {
    size[d] = copy ? padded.size(d) : w.in[d];
    first[d] = larger(0, -w.pad_low[d]);
  }
  Gemm g = product_of(call, size, copy ? 1 : call.batch);
  g.b = static_cast<const Element*>(in[2]);
  g.c = c;
  if ((call.epilogue & tfaot::kernels::kEpilogueBias) != 0) {
    g.bias = static_cast<const Element*>(in[3]);
  }
  const Int start = ((first[0] * size[1] + first[1]) * size[2] + first[2]) * call.in_channels;
  if (!copy) {
    g.a = image + start;
    return multiply_groups(g, call.groups);
  }
  padded.clear(scratch);
  g.a = scratch + start;
  for (Int i = 0; i < call.batch; ++i) {
    padded.fill(scratch, image);
    multiply_groups(g, call.groups);
    image += w.in[0] * w.in[1] * w.in[2] * call.in_channels;
    g.c += w.out[0] * w.out[1] * w.out[2] * call.out_channels;
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(convolution)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  convolve(*static_cast<const ConvolutionCall*>(in[0]), static_cast<Element*>(results[0]), in,
           static_cast<Element*>(results[1]));
}
