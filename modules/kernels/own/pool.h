// SPDX-License-Identifier: Apache-2.0
// Pooling (abi.h): an operation of slide_tile.h without a filter, over all images.
#pragma once

#include "slide.h"

namespace {

template <typename Op>
void pool(const Op& op, void* out, const void** in) {
  const auto& call = *static_cast<const tfaot::kernels::PoolCall*>(in[0]);
  const Window& w = call.window;
  const auto* image = static_cast<const Element*>(in[1]);
  auto* result = static_cast<Element*>(out);
  const Int out_elements = w.out[0] * w.out[1] * w.out[2] * call.channels;
  Slide<Op> slide(op, w, {call.channels, call.channels}, image /* there is no filter */,
                  dense_steps(w, call.channels), call.batch * out_elements);
  for (Int i = 0; i < call.batch; ++i) {
    slide.image(image, result);
    image += w.in[0] * w.in[1] * w.in[2] * call.channels;
    result += out_elements;
  }
}

}  // namespace
