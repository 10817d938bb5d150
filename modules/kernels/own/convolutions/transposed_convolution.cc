// SPDX-License-Identifier: Apache-2.0
// tfaot_transposed_convolution of abi.h: an ordinary convolution for each phase, whose results are
// stored with room for those of the other phases between them.
#include "convolutions/image.h"

namespace {

// Multiplies the lines of a plane at a time, or a long line. steps: between images, planes and
// lines of the result.
void multiply_lines(const Gemm& all, const Int (&steps)[kSpatial], Int groups) {
  const bool has_lines = all.row_count[2] > 1 && all.row_count[3] <= kBlockRows;
  const Int lines = has_lines ? 1 : all.row_count[2];
  Gemm g = all;
  g.row_count[0] = g.row_count[1] = 1;
  if (has_lines) {
    g.c_line = steps[2];
  } else {
    g.row_count[2] = 1;
  }
  for (Int i = 0; i < all.row_count[0] * all.row_count[1] * lines; ++i) {
    const Int at[] = {i / lines / all.row_count[1], i / lines % all.row_count[1], i % lines};
    g.a = all.a;
    g.c = all.c;
    for (int d = 0; d < kSpatial; ++d) {
      g.a += at[d] * all.row_step[d];
      g.c += at[d] * steps[d];
    }
    multiply_groups(g, groups);
  }
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
    Int steps[kSpatial] = {image_step_, 0, 0};
    Int start = 0;
    bool is_empty = false;
    for (int d = 0; d < kSpatial; ++d) {
      const Phase& p = phase[d];
      start = start * size_[d] + padding_[d].low - p.pad_low;
      is_empty = is_empty || p.size == 0;
      to += p.first * pixel_step_[d];
      if (d + 1 < kSpatial) steps[d + 1] = p.step * pixel_step_[d];
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
    multiply_lines(g, steps, call.groups);
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
