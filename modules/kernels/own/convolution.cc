// SPDX-License-Identifier: Apache-2.0
// tfaot_convolution of abi.h: a product whose rows are the windows' positions. No patches are
// gathered: the product reads the image in place or, with padding or base dilation, a copy of one
// image.
#include "convolve.h"

namespace {

// A convolution that reads a copy of each image.
struct Copied {
  const ConvolutionCall& call;
  const PaddedImage& padded;
  const Element* images;
  const Gemm& g;  // for the first image, but for what it reads
  Int start;      // of the first window in the copy

  // The copy has its padding.
  void convolve(Int image, Element* copy, tfaot::Tasks* tasks) const {
    const Window& w = call.window;
    padded.fill(copy, images + image * w.in[0] * w.in[1] * w.in[2] * call.in_channels);
    const Int made = image * w.out[0] * w.out[1] * w.out[2] * call.out_channels;
    Gemm product = g;
    product.tasks = tasks;
    product.a = copy + start;
    product.c += made;
    if (product.addends != nullptr) product.addends += made;
    multiply_groups(product, call.groups);
  }
};

struct SharedImages {
  const Copied& copied;
  const tfaot::Tasks& tasks;
};

void image_piece(void* context, Int piece, Int lane) {
  const auto& shared = *static_cast<const SharedImages*>(context);
  Element* const copy = scratch_of(shared.tasks, lane);
  shared.copied.padded.clear(copy);
  shared.copied.convolve(piece, copy, nullptr);
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
  g.tasks = more.tasks;
  const Int start = ((first[0] * size[1] + first[1]) * size[2] + first[2]) * call.in_channels;
  if (!copy) {
    g.a = image + start;
    return multiply_groups(g, call.groups);
  }
  const Copied copied = {call, padded, image, g, start};
  if (g.tasks != nullptr && are_enough(more.images, *g.tasks)) {
    SharedImages shared = {copied, *g.tasks};
    return g.tasks->run(*g.tasks, more.images, &image_piece, &shared);
  }
  padded.clear(scratch);
  for (Int i = 0; i < more.images; ++i) copied.convolve(i, scratch, g.tasks);
}

}  // namespace

extern "C" void TFAOT_KERNEL(convolution)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  convolve(*static_cast<const ConvolutionCall*>(in[0]), static_cast<Element*>(results[0]), in,
           static_cast<Element*>(results[1]));
}
