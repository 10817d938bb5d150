// SPDX-License-Identifier: Apache-2.0
// tfaot_convolution of abi.h: a product whose rows are the windows' positions. No patches are
// gathered: the product reads the image in place or, with padding or base dilation, a copy of one
// image.
#include "convolve.h"

namespace {

void convolve(const ConvolutionCall& call, Element* c, const void** in, Element* scratch) {
  const Window& w = call.window;
  const auto* image = static_cast<const Element*>(in[1]);
  const bool copy = tfaot::kernels::is_copied(w);
  const PaddedImage padded(w, call.in_channels);
  Int size[kSpatial], first[kSpatial];
  for (int d = 0; d < kSpatial; ++d) {
    size[d] = copy ? padded.size(d) : w.in[d];
    first[d] = larger(0, -w.pad_low[d]);
  }
  const Int images = live_images(call, in);
  Gemm g = product_of(call, size, copy ? 1 : images);
  g.b = static_cast<const Element*>(in[2]);
  g.c = c;
  if ((call.epilogue & tfaot::kernels::kEpilogueBias) != 0) {
    g.bias = static_cast<const Element*>(in[3]);
  }
  if ((call.epilogue & tfaot::kernels::kEpilogueSum) != 0) {
    g.addends = static_cast<const Element*>(in[g.bias == nullptr ? 3 : 4]);
  }
  const Int start = ((first[0] * size[1] + first[1]) * size[2] + first[2]) * call.in_channels;
  if (!copy) {
    g.a = image + start;
    return multiply_groups(g, call.groups);
  }
  padded.clear(scratch);
  g.a = scratch + start;
  for (Int i = 0; i < images; ++i) {
    padded.fill(scratch, image);
    multiply_groups(g, call.groups);
    image += w.in[0] * w.in[1] * w.in[2] * call.in_channels;
    const Int made = w.out[0] * w.out[1] * w.out[2] * call.out_channels;
    g.c += made;
    if (g.addends != nullptr) g.addends += made;
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(convolution)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  convolve(*static_cast<const ConvolutionCall*>(in[0]), static_cast<Element*>(results[0]), in,
           static_cast<Element*>(results[1]));
}
