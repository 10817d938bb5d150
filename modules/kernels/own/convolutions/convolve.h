// SPDX-License-Identifier: Apache-2.0
// The product whose rows are a window's positions, for convolutions.
#pragma once

#include "convolutions/image.h"
#include "products/gemm.h"

namespace {

// The part that all groups and images share. `size`: of the image that is read.
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
  g.rectifier = rectifier_of(call.epilogue);
  return g;
}

void multiply_groups(Gemm g, Int groups) {
  for (Int i = 0; i < groups; ++i) {
    TFAOT_KERNEL(gemm)(&g);
    g.a += g.run;
    g.b += ceil_div(g.columns, kPanelColumns<Element>) * g.b_panel;
    g.c += g.columns;
    if (g.bias != nullptr) g.bias += g.columns;
    if (g.addends != nullptr) g.addends += g.columns;
  }
}

}  // namespace
