// SPDX-License-Identifier: Apache-2.0
// tfaot_depthwise of abi.h.
#include "slide.h"

namespace {

using tfaot::kernels::ConvolutionCall;

struct MultiplyAdd {
  using State = Vec<Element>;
  static constexpr int kResults = 1;
  static constexpr bool kFilter = true;
  template <bool kPart>
  Vec<Element> start(Int channel, Int count) const {
    if (bias == nullptr) return Vec<Element>{};
    return load_channels<kPart>(bias + channel, count);
  }
  static Vec<Element> step(Vec<Element> sum, Vec<Element> input, Vec<Element> weight) {
    return sum + input * weight;
  }
  Vec<Element> finish(Vec<Element> sum, int /*result*/) const {
    return is_relu ? relu<Element>(sum) : sum;
  }

  const Element* bias;  // null: none
  bool is_relu;
};

// The window over a copy of the image with its base dilation written out.
Window on_copy(const Window& window, const PaddedImage& copy) {
  Window w = window;
  for (int d = 0; d < kSpatial; ++d) {
    w.in[d] = copy.size(d);
    w.base_dilation[d] = 1;
    w.pad_low[d] = smaller(0, window.pad_low[d]);
    w.pad_high[d] = smaller(0, window.pad_high[d]);
  }
  return w;
}

void convolve(const ConvolutionCall& call, Element* result, const void** in, Element* scratch) {
  const Window& w = call.window;
  const auto* image = static_cast<const Element*>(in[1]);
  const auto* const filter = static_cast<const Element*>(in[2]);
  const bool bias = (call.epilogue & tfaot::kernels::kEpilogueBias) != 0;
  const MultiplyAdd op = {bias ? static_cast<const Element*>(in[3]) : nullptr,
                          (call.epilogue & tfaot::kernels::kEpilogueRelu) != 0};
  const bool copy = is_dilated(w);
  const PaddedImage padded(w, call.in_channels);
  if (copy) padded.clear(scratch);
  const Window over = copy ? on_copy(w, padded) : w;
  Slide<MultiplyAdd> slide(op, over, call.in_channels, filter, 0);
  for (Int i = 0; i < call.batch; ++i) {
    if (copy) padded.fill(scratch, image);
    slide.image(copy ? scratch : image, result);
    image += w.in[0] * w.in[1] * w.in[2] * call.in_channels;
    result += w.out[0] * w.out[1] * w.out[2] * call.out_channels;
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(depthwise)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  convolve(*static_cast<const ConvolutionCall*>(in[0]), static_cast<Element*>(results[0]), in,
           static_cast<Element*>(results[1]));
}
