// SPDX-License-Identifier: Apache-2.0
// tfaot_convolution of abi.h: a product whose rows are the windows' positions. No patches are
// gathered: the product reads the image in place or, with padding or base dilation, a copy of one
// image.
#include "convolutions/convolve.h"
#include "products/gemm.h"

namespace {

Int image_elements(const ConvolutionCall& call) {
  return call.window.in[0] * call.window.in[1] * call.window.in[2] * call.in_channels;
}
Int result_elements(const ConvolutionCall& call) {
  return call.window.out[0] * call.window.out[1] * call.window.out[2] * call.out_channels;
}

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
  const MoreOperands more = more_operands(call, in);
  Gemm g = product_of(call, size, copy ? 1 : more.images);
  g.b = static_cast<const Element*>(in[2]);
  g.c = c;
  g.bias = more.bias;
  g.addends = more.addends;
  g.function = more.function;
  g.tasks = more.tasks;
  const Int start = ((first[0] * size[1] + first[1]) * size[2] + first[2]) * call.in_channels;
  if (!copy) {
    g.a = image + start;
    return multiply_groups(g, call.groups);
  }
  if (g.tasks != nullptr && are_enough(more.images, *g.tasks)) {
    tfaot::Tasks& tasks = *g.tasks;
    g.tasks = nullptr;
    return share(tasks, more.images, [&](Int piece, Int lane) {
      Element* const image_copy = scratch_of(tasks, lane);
      padded.clear(image_copy);
      padded.fill(image_copy, image + piece * image_elements(call));
      Gemm of_image = g;
      of_image.a = image_copy + start;
      of_image.c += piece * result_elements(call);
      if (g.addends != nullptr) of_image.addends += piece * result_elements(call);
      multiply_groups(of_image, call.groups);
    });
  }
  padded.clear(scratch);
  g.a = scratch + start;
  for (Int i = 0; i < more.images; ++i) {
    padded.fill(scratch, image);
    multiply_groups(g, call.groups);
    image += image_elements(call);
    g.c += result_elements(call);
    if (g.addends != nullptr) g.addends += result_elements(call);
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(convolution)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  convolve(*static_cast<const ConvolutionCall*>(in[0]), static_cast<Element*>(results[0]), in,
           static_cast<Element*>(results[1]));
}
