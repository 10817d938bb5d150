// SPDX-License-Identifier: Apache-2.0
// tfaot_transposed_convolution of abi.h: an ordinary convolution for each phase, whose results are
// stored with room for those of the other phases between them.
#include "convolutions/image.h"

namespace {

// Steps between results that are neighbours in the phase: images, planes and lines.
struct ResultSteps {
  Int step[kSpatial];
};

bool are_equally_far_apart(const Gemm& g, const ResultSteps& steps) {
  Int lines = 1, between = 0;
  for (int d = kSpatial; d-- > 0;) {
    if (g.row_count[d] == 1) continue;
    if (between == 0) between = steps.step[d];
    if (steps.step[d] != lines * between) return false;
    lines *= g.row_count[d];
  }
  return lines == 1 || g.row_count[kSpatial] <= kBlockRows;
}

Int line_step(const Gemm& g, const ResultSteps& steps) {
  for (int d = kSpatial; d-- > 0;) {
    if (g.row_count[d] > 1) return steps.step[d];
  }
  return 0;
}

// Multiplies as many lines at a time as possible. The first D counts are 1.
template <int D>
void multiply_lines(Gemm g, const ResultSteps& steps, Int groups) {
  if constexpr (D < kSpatial) {
    if (!are_equally_far_apart(g, steps)) {
      const Int count = g.row_count[D];
      g.row_count[D] = 1;
      for (Int i = 0; i < count; ++i) {
        multiply_lines<D + 1>(g, steps, groups);
        g.a += g.row_step[D];
        g.c += steps.step[D];
      }
      return;
    }
  }
  g.c_line = line_step(g, steps);
  multiply_groups(g, groups);
}

class Phases {
 public:
  Phases(const ConvolutionCall& call, void* out, const void** in)
      : call_(call),
        more_(epilogue_of(call, in)),
        filter_(operand(in, 2)),
        result_(result(out, 0)),
        image_step_(result_elements(call.window, call.out_channels)) {
    Int step = call.out_channels;
    for (int d = kSpatial; d-- > 0;) {
      pixel_step_[d] = step;
      step *= call.window.out[d];
      padding_[d] = phase_padding(call.window, d);
      size_[d] = padding_[d].low + call.window.in[d] + padding_[d].high;
      is_padded_ = is_padded_ || padding_[d].low > 0 || padding_[d].high > 0;
    }
  }

  void run(const Element* images, Element* scratch) {
    if (!is_padded_) return all_phases(images, more_.rows, result_);
    Window around = call_.window;
    for (int d = 0; d < kSpatial; ++d) {
      around.pad_low[d] = padding_[d].low;
      around.pad_high[d] = padding_[d].high;
    }
    const PaddedImage padded(around, call_.in_channels);
    padded.clear(scratch);
    for (Int i = 0; i < more_.rows; ++i) {
      padded.fill(scratch, images + i * input_elements(call_.window, call_.in_channels));
      all_phases(scratch, 1, result_ + i * image_step_);
    }
  }

 private:
  void all_phases(const Element* images, Int count, Element* to) {
    const Element* filter = filter_;
    for_each_phase(call_.window, [&](const auto& phase) {
      filter += one_phase(phase, images, count, filter, to);
    });
  }

  // Returns the elements of the filter that belong to the phase.
  Int one_phase(const Phase (&phase)[kSpatial], const Element* images, Int count,
                const Element* filter, Element* to) const {
    ConvolutionCall call = call_;
    call.window = window_of(phase, call_.window);
    ResultSteps steps = {{image_step_, 0, 0}};
    Int start = 0;
    bool is_empty = false;
    for (int d = 0; d < kSpatial; ++d) {
      const Phase& p = phase[d];
      start = start * size_[d] + padding_[d].low - p.pad_low;
      is_empty = is_empty || p.size == 0;
      to += p.first * pixel_step_[d];
      if (d + 1 < kSpatial) steps.step[d + 1] = p.step * pixel_step_[d];
    }
    Gemm g = product_of(call, size_, count);
    if (is_empty) {
      start = g.run = g.b_panel = 0;
      for (Int& taps : g.tap_count) taps = 1;
    }
    g.a = images + start * call.in_channels;
    g.b = filter;
    set_epilogue(g, call.epilogue, more_);
    g.c = to;
    g.c_row = phase[kSpatial - 1].step * pixel_step_[kSpatial - 1];
    multiply_lines<0>(g, steps, call.groups);
    return call.groups * ceil_div(g.columns, kPanelColumns<Element>) * g.b_panel;
  }

  const ConvolutionCall& call_;
  const EpilogueOperands more_;
  const Element* filter_;
  Element* result_;
  Int image_step_, pixel_step_[kSpatial];
  Padding padding_[kSpatial];
  Int size_[kSpatial];
  bool is_padded_ = false;
};

}  // namespace

extern "C" void TFAOT_KERNEL(transposed_convolution)(void* out, const void** in) {
  Phases(call_of<ConvolutionCall>(in), out, in).run(operand(in, 1), result(out, 1));
}
