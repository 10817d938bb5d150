// SPDX-License-Identifier: Apache-2.0
// tfaot_resize of abi.h: a line of the result is a sum of lines of the input, and then of its own
// neighbours.
#include "simd/kernel.h"

namespace {

// to[x] = the sum of weights[k] * from[k * distance + x] over `taps` k.
TFAOT_INLINE void add_up(Element* to, const Element* from, Int distance, const Element* weights,
                         Int taps, Int count) {
  along_row<Element>(count, [&](Int x, Int lanes) {
    Vec<Element> sum = load_some(from + x, lanes) * weights[0];
    for (Int k = 1; k < taps; ++k) {
      sum = multiply_add(load_some(from + k * distance + x, lanes), weights[k], sum);
    }
    store_some(to + x, sum, lanes);
  });
}

// The sums along a dimension.
struct Along {
  const Int* start;
  const Element* weights;
  Int taps, out;

  bool is_copy(Int i) const { return taps == 1 && weights[i] == 1; }
};

class Resize {
 public:
  Resize(const ResizeCall& call, const Element* weights)
      : call_(call), line_(call.in[1] * call.channels), out_line_(call.out[1] * call.channels) {
    const auto* const start = static_cast<const Int*>(static_cast<const void*>(&call + 1));
    rows_ = {start, weights, call.taps[0], call.out[0]};
    columns_ = {start + call.out[0], weights + call.out[0] * call.taps[0], call.taps[1],
                call.out[1]};
    only_repeats_ = columns_.taps == 1;
    for (Int j = 0; j < columns_.out; ++j) only_repeats_ = only_repeats_ && columns_.is_copy(j);
  }

  void image(Element* to, const Element* from, Element* scratch) const {
    for (Int i = 0; i < call_.out[0]; ++i, to += out_line_) {
      const Element* line = from + rows_.start[i] * line_;
      if (!rows_.is_copy(i)) {
        add_up(scratch, line, line_, rows_.weights + i * rows_.taps, rows_.taps, line_);
        line = scratch;
      }
      add_columns(to, line);
    }
  }

 private:
  void add_columns(Element* to, const Element* line) const {
    const Along& c = columns_;
    const Int channels = call_.channels;
    for (Int j = 0; j < c.out; ++j, to += channels) {
      const Element* const from = line + c.start[j] * channels;
      if (only_repeats_) {
        copy_elements(to, from, channels);
      } else {
        add_up(to, from, channels, c.weights + j * c.taps, c.taps, channels);
      }
    }
  }

  const ResizeCall& call_;
  Int line_, out_line_;
  Along rows_, columns_;
  bool only_repeats_;
};

}  // namespace

extern "C" void TFAOT_KERNEL(resize)(void* out, const void** in) {
  const auto& call = call_of<ResizeCall>(in);
  const Element* from = operand(in, 1);
  Element* to = result(out, 0);
  const Resize resize(call, operand(in, 2));
  for (Int i = 0; i < call.batch; ++i) {
    resize.image(to, from, result(out, 1));
    from += call.in[0] * call.in[1] * call.channels;
    to += call.out[0] * call.out[1] * call.channels;
  }
}
