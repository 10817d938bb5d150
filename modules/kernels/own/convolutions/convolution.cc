// SPDX-License-Identifier: Apache-2.0
// tfaot_convolution of abi.h: a product whose rows are the windows' positions. No patches are
// gathered: the product reads the image in place or, with padding, a copy of one image.
#include "convolutions/image.h"

extern "C" void TFAOT_KERNEL(convolution)(void* out, const void** in) {
  const auto& call = call_of<ConvolutionCall>(in);
  const Window& w = call.window;
  const Element* const images = operand(in, 1);
  const bool copy = is_copied(w);
  const PaddedImage padded(w, call.in_channels);
  Int size[kSpatial], start = 0;
  for (int d = 0; d < kSpatial; ++d) {
    size[d] = copy ? padded.size(d) : w.in[d];
    start = start * size[d] + larger(0, -w.pad_low[d]);
  }
  start *= call.in_channels;
  const EpilogueOperands more = epilogue_of(call, in);
  Gemm g = product_of(call, size, copy ? 1 : more.rows);
  set_epilogue(g, call.epilogue, more);
  g.b = operand(in, 2);
  g.c = result(out, 0);
  if (!copy) {
    g.a = images + start;
    return multiply_groups(g, call.groups);
  }
  const bool are_shared = more.tasks != nullptr && are_enough(more.rows, *more.tasks);
  if (are_shared) g.tasks = nullptr;
  share_or_run(are_shared ? more.tasks : nullptr, more.rows, result(out, 1),
               [&](Int image, Element* to) {
                 padded.fill(to, images + image * input_elements(w, call.in_channels));
                 const Int at = image * result_elements(w, call.out_channels);
                 Gemm of_image = g;
                 of_image.a = to + start;
                 of_image.c += at;
                 if (g.addends != nullptr) of_image.addends += at;
                 multiply_groups(of_image, call.groups);
               });
}
