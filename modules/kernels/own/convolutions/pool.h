// SPDX-License-Identifier: Apache-2.0
// Pooling (abi.h): an operation of slide_tiles.h without a filter, over all images.
#pragma once

#include "convolutions/slide.h"

namespace {

using tfaot::kernels::PoolCall;

// The members that operations of one result share. Op::kStart: the value of an empty window.
template <typename Op>
struct OneResult {
  using State = Vec<Element>;
  static constexpr int kResults = 1;
  static constexpr Filter kFilter = Filter::kNone;
  template <bool kPart>
  Vec<Element> start(Int /*channel*/, Int /*count*/) const {
    return Vec<Element>{} + Op::kStart;
  }
  static Vec<Element> step(Vec<Element> sum, Vec<Element> input) { return Op::join(sum, input); }
  Vec<Element> finish(Vec<Element> sum, int /*result*/) const { return sum; }
};

// True if windows have one element along a dimension.
inline bool is_apart(const Window& w, int d) {
  return w.size[d] == 1 && w.stride[d] == 1 && w.pad_low[d] == 0 && w.in[d] == w.out[d];
}

// The rows of all images as those of one, if windows lie in rows: there are tiles of many of them.
inline PoolCall joined(const PoolCall& call) {
  PoolCall all = call;
  Window& w = all.window;
  if (is_apart(w, 0) && is_apart(w, 1)) {
    w.in[1] = w.out[1] = call.batch * w.in[0] * w.in[1];
    all.batch = w.in[0] = w.out[0] = 1;
  }
  return all;
}

template <typename Op>
void pool(const Op& op, void* out, const void** in) {
  const PoolCall call = joined(*static_cast<const PoolCall*>(in[0]));
  const Window& w = call.window;
  const auto* image = static_cast<const Element*>(in[1]);
  auto* result = static_cast<Element*>(out);
  const Int out_elements = pooled_elements(call);
  Slide<Op> slide(op, w, {call.channels, call.channels}, image /* there is no filter */,
                  dense_steps(w, call.channels), call.batch * out_elements);
  for (Int i = 0; i < call.batch; ++i) {
    slide.image(image, result);
    image += w.in[0] * w.in[1] * w.in[2] * call.channels;
    result += out_elements;
  }
}

}  // namespace
