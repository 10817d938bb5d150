// SPDX-License-Identifier: Apache-2.0
// Convolutions of each channel, or of each of many small groups, alone: an ordinary one for each
// phase, in place.
#pragma once

#include "convolutions/slide.h"

namespace {

struct MultiplyAdd {
  using State = Vec<Element>;
  static constexpr int kResults = 1;
  static constexpr Filter kFilter = Filter::kOfChannels;
  static constexpr Int inputs = 1;  // of a result, per tap
  template <bool kPart>
  Vec<Element> start(Int channel, Int count) const {
    if (bias == nullptr) return Vec<Element>{};
    return load_channels<kPart>(bias + channel, count);
  }
  static Vec<Element> step(Vec<Element> sum, Vec<Element> input, Vec<Element> weight) {
    return sum + input * weight;
  }
  Vec<Element> finish(Vec<Element> sum, int /*result*/) const {
    return rectified<Element>(sum, rectifier);
  }

  const Element* bias;  // null: none
  Rectifier rectifier;
};

template <typename Op>
class Phases {
 public:
  Phases(const Op& op, const ConvolutionCall& call, const MoreOperands& more, const void** in)
      : op_(op),
        call_(call),
        more_(more),
        filter_(static_cast<const Element*>(in[2])),
        steps_(dense_steps(call.window, call.out_channels)) {
    for (Int& step : steps_.filter) step *= op.inputs;
  }

  // Computes all images.
  void run(const Element* image, Element* result) const {
    for_each_phase(call_.window, [&](const auto& phase) { one_phase(phase, image, result); });
  }

 private:
  void one_phase(const Phase (&phase)[kSpatial], const Element* image, Element* result) const {
    const Window w = window_of(phase, call_.window);
    const Element* filter = filter_;
    SlideSteps steps = steps_;
    for (int d = 0; d < kSpatial; ++d) {
      const Phase& p = phase[d];
      filter += p.first_tap * steps.filter[d];
      result += p.first * steps.out[d];
      steps.filter[d] *= p.tap_step;
      steps.out[d] *= p.step;
    }
    Slide<Op> slide(op_, w, {call_.in_channels, call_.out_channels}, filter, steps, 0);
    const Int in_image = w.in[0] * w.in[1] * w.in[2] * call_.in_channels;
    const Int out_image = steps_.out[0] * call_.window.out[0];
    for (Int i = 0; i < more_.images; ++i) {
      slide.image(image + i * in_image, result + i * out_image);
      activate({result + i * out_image, out_image, 1, out_image, more_.function});
    }
  }

  const Op& op_;
  const ConvolutionCall& call_;
  const MoreOperands& more_;
  const Element* filter_;
  SlideSteps steps_;
};

}  // namespace
