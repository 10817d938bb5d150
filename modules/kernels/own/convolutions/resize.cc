// SPDX-License-Identifier: Apache-2.0
// tfaot_resize of abi.h: a line of the result is a sum of lines of the input, and then of its own
// neighbours.
#include "simd/kernel.h"

namespace {

// to[x] = the sum of weights[k] * from[k * distance + x] over kTaps k; `taps` if kTaps is 0.
template <int kTaps>
TFAOT_INLINE void add_up(Element* to, const Element* from, Int distance, const Element* weights,
                         Int taps, Int count) {
  const auto sum_at = [&](Int x, auto load_one) {
    Vec<Element> sum = load_one(from + x) * weights[0];
    if constexpr (kTaps > 0) {
      TFAOT_FOR (Int k = 1; k < kTaps; ++k) sum += load_one(from + k * distance + x) * weights[k];
    } else {
      for (Int k = 1; k < taps; ++k) sum += load_one(from + k * distance + x) * weights[k];
    }
    return sum;
  };
  Int x = 0;
  for (; x + kLanes<Element> <= count; x += kLanes<Element>) {
    store(to + x, sum_at(x, [](const Element* at) { return load(at); }));
  }
  const Int rest = count - x;
  if (rest == 0) return;
#if TFAOT_HAS_MASKS
  store_first(to + x, sum_at(x, [=](const Element* at) { return load_first(at, rest); }), rest);
#else
  for (; x < count; ++x) {
    Element sum = from[x] * weights[0];
    for (Int k = 1; k < taps; ++k) sum += from[k * distance + x] * weights[k];
    to[x] = sum;
  }
#endif
}

// The sums along a dimension.
struct Along {
  const Int* start;
  const Element* weights;
  Int taps, out;

  bool is_copy(Int i) const { return taps == 1 && weights[i] == 1; }
  bool is_as_before(Int i) const {
    if (i == 0 || start[i] != start[i - 1]) return false;
    for (Int k = 0; k < taps; ++k) {
      if (weights[i * taps + k] != weights[(i - 1) * taps + k]) return false;
    }
    return true;
  }
  // Each result is the element at its own place.
  bool is_identity(Int in) const {
    for (Int i = 0; i < out; ++i) {
      if (!is_copy(i) || start[i] != i) return false;
    }
    return out == in;
  }
};

template <int kTaps>
void add_up_neighbours(Element* to, const Element* line, const Along& along, Int channels) {
  for (Int j = 0; j < along.out; ++j) {
    add_up<kTaps>(to + j * channels, line + along.start[j] * channels, channels,
                  along.weights + j * along.taps, along.taps, channels);
  }
}

void repeat(Element* to, const Element* line, const Along& along, Int channels) {
  for (Int j = 0; j < along.out; ++j) {
    copy_elements(to + j * channels, line + along.start[j] * channels, channels);
  }
}

class Resize {
 public:
  Resize(const ResizeCall& call, const Element* weights)
      : call_(call), line_(call.in[1] * call.channels), out_line_(call.out[1] * call.channels) {
    const auto* const start = static_cast<const Int*>(static_cast<const void*>(&call + 1));
    rows_ = {start, weights, call.taps[0], call.out[0]};
    columns_ = {start + call.out[0], weights + call.out[0] * call.taps[0], call.taps[1],
                call.out[1]};
    keeps_columns_ = columns_.is_identity(call.in[1]);
    only_repeats_ = columns_.taps == 1;
    for (Int j = 0; j < columns_.out; ++j) only_repeats_ = only_repeats_ && columns_.is_copy(j);
  }

  void image(Element* to, const Element* from, Element* scratch) const {
    for (Int i = 0; i < call_.out[0]; ++i, to += out_line_) {
      if (rows_.is_as_before(i)) {
        __builtin_memcpy(to, to - out_line_,
                         static_cast<unsigned long>(out_line_) * sizeof(Element));
        continue;
      }
      const Element* line = from + rows_.start[i] * line_;
      if (!rows_.is_copy(i)) {
        Element* const sum = keeps_columns_ ? to : scratch;
        add_rows(sum, line, rows_.weights + i * rows_.taps);
        line = sum;
      }
      if (line != to) add_columns(to, line);
    }
  }

 private:
  void add_rows(Element* to, const Element* from, const Element* weights) const {
    const Int taps = rows_.taps;
    if (taps == 2) return add_up<2>(to, from, line_, weights, taps, line_);
    if (taps == 3) return add_up<3>(to, from, line_, weights, taps, line_);
    add_up<0>(to, from, line_, weights, taps, line_);
  }

  void add_columns(Element* to, const Element* line) const {
    if (only_repeats_) return repeat(to, line, columns_, call_.channels);
    const Int taps = columns_.taps;
    if (taps == 2) return add_up_neighbours<2>(to, line, columns_, call_.channels);
    if (taps == 3) return add_up_neighbours<3>(to, line, columns_, call_.channels);
    add_up_neighbours<0>(to, line, columns_, call_.channels);
  }

  const ResizeCall& call_;
  Int line_, out_line_;
  Along rows_, columns_;
  bool keeps_columns_, only_repeats_;
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
