// SPDX-License-Identifier: Apache-2.0
// Windows that treat every channel alone, or each of many small groups: pooling, depthwise and
// grouped convolution. A window that reaches into the padding is clipped.
//
// An operation has
//   static constexpr Filter kFilter                 its kind of filter
//   static constexpr int kResults                   the number of results
//   using State                                     Vec<Element>, or more of them
//   template <bool kPart> State start(Int channel, Int count) const
//   static State step(State state, Vec<Element> input, Vec<Element> weight)   with a filter
//   static State step(State state, Vec<Element> input)                        without one
//   static State join(State, State)                 of two parts of a window; without a filter
//   Vec<Element> finish(const State& state, int result) const
#pragma once

#include "convolutions/image.h"

namespace {

// ---- The inner loops: several neighbouring positions by a vector of channels, with sums in
// registers.

enum class Filter { kNone, kOfChannels, kOfGroups };

// The taps of one tile; steps are in elements.
struct Taps {
  Int count[kSpatial], step[kSpatial], filter_step[kSpatial];
};

// Neighbouring positions and all their channels. The positions are `step` elements apart in the
// input and `result` in the result. If there are several results, they are `other_result` elements
// apart.
struct Positions {
  const Element* in;
  Int step;
  const Element* filter;
  Element* out;
  Int result, other_result;
  // For Edged alone: the columns from `in` on that are in the image, and those of a step.
  Int begin = 0, end = 0, columns = 0;
};

// The work of a tile on one vector of channels. kPart: only `count` of them are read and written.
template <typename Op, bool kPart>
struct Tile {
  using State = typename Op::State;

  template <int N>
  TFAOT_INLINE void start(State (&sums)[N]) const {
    TFAOT_EACH (i, N) sums[i] = op.template start<kPart>(channel, count);
  }
  TFAOT_INLINE Vec<Element> read(const Element* from) const {
    return load_part<kPart>(from, count);
  }
  TFAOT_INLINE void write(const State& state, Element* to) const {
    TFAOT_EACH (which, Op::kResults) {
      const Vec<Element> value = op.finish(state, which);
      store_part<kPart>(to + which * at.other_result, value, count);
    }
  }
  // Writes neighbouring positions.
  template <int P>
  TFAOT_INLINE void write(const State (&sums)[P]) const {
    Element* to = at.out + channel;
    TFAOT_FOR (int r = 0; r < P; ++r, go_on(to, at.result)) write(sums[r], to);
  }
  // Calls use(taps' input, their weights) for each row of the window.
  template <typename Use>
  TFAOT_INLINE void each_line(const Use& use) const {
    for (Int i = 0; i < taps.count[0]; ++i) {
      const Element* in = at.in + i * taps.step[0] + channel;
      const Element* weights = at.filter + i * taps.filter_step[0] + channel;
      for (Int j = 0; j < taps.count[1]; ++j) {
        use(in, weights);
        in += taps.step[1];
        weights += taps.filter_step[1];
      }
    }
  }

  const Op& op;
  const Taps& taps;
  const Positions& at;
  Int channel, count;
};

// The forms of tiles: P positions by a vector. kMost: the most positions.

// Any taps, with a filter of each channel or none.
template <int kMostPositions>
struct AnyTaps {
  static constexpr int kMost = kMostPositions;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P];
    tile.start(sums);
    tile.each_line([&](const Element* in, const Element* weights) TFAOT_ALWAYS {
      const Taps& taps = tile.taps;
      for (Int k = 0; k < taps.count[2]; ++k, in += taps.step[2], weights += taps.filter_step[2]) {
        if constexpr (Op::kFilter == Filter::kNone) {
          TFAOT_EACH (r, P) sums[r] = Op::step(sums[r], tile.read(in + r * tile.at.step));
        } else {
          const Vec<Element> weight = tile.read(weights);
          TFAOT_EACH (r, P) {
            sums[r] = Op::step(sums[r], tile.read(in + r * tile.at.step), weight);
          }
        }
      }
    });
    tile.write(sums);
  }
};

// No filter: KW taps in a row, with neighbouring positions kStride taps apart, fewer than KW.
// Columns of the windows are joined first, once for all windows that have them.
template <int KW, int kStride>
struct Overlapping {
  static constexpr int kMost = TFAOT_VECTOR_REGISTERS == 32 ? 8 : 4;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    constexpr int kColumns = (P - 1) * kStride + KW;
    typename Op::State columns[kColumns];
    tile.start(columns);
    tile.each_line([&](const Element* in, const Element*) TFAOT_ALWAYS {
      TFAOT_FOR (int p = 0; p < kColumns; ++p, go_on(in, tile.taps.step[2])) {
        columns[p] = Op::step(columns[p], tile.read(in));
      }
    });
    TFAOT_EACH (r, P) {
      typename Op::State sum = columns[r * kStride];
      TFAOT_FOR (int k = 1; k < KW; ++k) sum = Op::join(sum, columns[r * kStride + k]);
      tile.write(sum, tile.at.out + r * tile.at.result + tile.channel);
    }
  }
};

// The channels from `begin` to `end`.
struct Channels {
  Int begin, end;
};

// Tiles of P positions while `count` lasts. All channels of some positions come before the next
// positions, so that memory is read in order. kPart: fewer channels than a vector has.
template <typename Form, int P, bool kPart, typename Op>
TFAOT_INLINE void slide_some(const Op& op, const Taps& taps, Positions& at, Int& count,
                             const Channels& channels) {
  constexpr Int kWidth = kLanes<Element>;
  for (; count >= P; count -= P) {
    if constexpr (kPart) {
      const Int width = channels.end - channels.begin;
      Form::template slide<P>(Tile<Op, true>{op, taps, at, channels.begin, width});
    } else {
      // The last channels once more with some before them, as a whole vector.
      for (Int c = channels.begin; c < channels.end; c += kWidth) {
        const Int channel = smaller(c, channels.end - kWidth);
        Form::template slide<P>(Tile<Op, false>{op, taps, at, channel, kWidth});
      }
    }
    at.in += P * at.step;
    at.out += P * at.result;
    at.begin -= P * at.columns;
    at.end -= P * at.columns;
  }
}

// Tiles of all sizes of a form; no recursion, as in microkernel.h. Referenced structs are copied
// first, because the compiler must assume that a store changes them.
template <typename Form, bool kPart = false, typename Op>
__attribute__((noinline)) void slide_all(const Op op, const Taps& all_taps,
                                         const Positions& positions, Int count, Channels channels) {
  const Taps taps = all_taps;
  Positions at = positions;
  // Float64 is seldom worth more code, and without masks parts are not either.
  constexpr int kMost = kPart ? (TFAOT_HAS_MASKS ? 4 : 1) : TFAOT_IS_F32 ? Form::kMost : 2;
  slide_some<Form, kMost, kPart>(op, taps, at, count, channels);
  if constexpr (kMost > 4) slide_some<Form, 4, kPart>(op, taps, at, count, channels);
  if constexpr (kMost > 2 && !kPart) slide_some<Form, 2, kPart>(op, taps, at, count, channels);
  if constexpr (kMost > 1) slide_some<Form, 1, kPart>(op, taps, at, count, channels);
}

// Tiles for groups of channels: a channel of each group's input is spread over the lanes of that
// group's results, then the next one.

// Input J of the group of each lane of results.
template <int I, int O, int J>
struct GroupLanes {
  static constexpr int at(int l) { return l / O * I + J; }
};

// Groups of I channels of the input and O of the result, any filter. An operation has filter_row:
// elements from one channel of a group's input to the next.
template <int I, int O>
struct GroupsFilter {
  static constexpr int kWidth = kLanes<Element>;
  static constexpr bool kIsOneGroup = O >= kWidth;  // for a vector of results
  static constexpr int kMost = TFAOT_VECTOR_REGISTERS == 32 ? 8 : kIsOneGroup ? 4 : 6;

  // Reads the inputs of `count` lanes of results.
  template <bool kPart>
  static TFAOT_INLINE Vec<Element> read(const Element* from, Int count) {
    if constexpr (kPart) return load_first(from, count / O * I);
    if constexpr (I < O && kWidth == 4) return Vec<Element>{from[0], from[1]};
    if constexpr (I < O) return load_first(from, kWidth / O * I);
    return load(from);
  }

  template <int J, int P>
  static TFAOT_INLINE void spread(Vec<Element> (&spread)[P], const Vec<Element> (&inputs)[P],
                                  const Element* from, Int step) {
    TFAOT_EACH (r, P) {
      if constexpr (kIsOneGroup) {
        spread[r] = Vec<Element>{} + from[r * step + J];
      } else {
        spread[r] = shuffle<GroupLanes<I, O, J>>(inputs[r], inputs[r]);
      }
    }
  }

  // Adds the products with the J-th input of each group, and those after it.
  template <int J, int P, typename Op, bool kPart>
  static TFAOT_INLINE void add(const Tile<Op, kPart>& tile, typename Op::State (&sums)[P],
                               const Vec<Element> (&inputs)[P], const Element* from,
                               const Element* weights) {
    if constexpr (J < I) {
      Vec<Element> x[P];
      spread<J>(x, inputs, from, tile.at.step);
      const Vec<Element> weight = tile.read(weights);
      TFAOT_EACH (r, P) sums[r] = Op::step(sums[r], x[r], weight);
      add<J + 1>(tile, sums, inputs, from, weights + tile.op.filter_row);
    }
  }

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P];
    tile.start(sums);
    const Int first = tile.channel / O * I - tile.channel;
    tile.each_line([&](const Element* in, const Element* weights) TFAOT_ALWAYS {
      in += first;
      for (Int k = 0; k < tile.taps.count[2]; ++k) {
        Vec<Element> inputs[P] = {};
        if constexpr (!kIsOneGroup) {
          TFAOT_EACH (r, P) {
            inputs[r] = read<kPart>(in + r * tile.at.step, tile.count);
          }
        }
        add<0>(tile, sums, inputs, in, weights);
        in += tile.taps.step[2];
        weights += tile.taps.filter_step[2];
      }
    });
    tile.write(sums);
  }
};

// ---- Rows and images.

// The part of a window that is inside the input, at one position of a dimension.
struct Clip {
  Clip(const Window& w, int d, Int position) {
    const Int before = w.pad_low[d] - position * w.stride[d];  // elements in the padding
    first = smaller(larger(0, steps(before, w.window_dilation[d])), w.size[d]);
    const Int end = smaller(larger(0, steps(before + w.in[d], w.window_dilation[d])), w.size[d]);
    count = larger(0, end - first);
    at = first * w.window_dilation[d] - before;
  }
  // A division is slow, and most windows are not dilated.
  static Int steps(Int distance, Int step) {
    return step == 1 ? distance : ceil_div(distance, step);
  }

  Int first, count;  // of the window
  Int at;            // in the input
};

// Elements between the filter's taps, and between neighbouring results.
struct SlideSteps {
  Int filter[kSpatial], out[kSpatial];
};

// Channels of a pixel.
struct ChannelCounts {
  Int in, out;
};

inline SlideSteps dense_steps(const Window& w, Int channels) {
  SlideSteps steps = {};
  Int filter = channels, out = channels;
  for (int d = kSpatial; d-- > 0;) {
    steps.filter[d] = filter;
    steps.out[d] = out;
    filter *= w.size[d];
    out *= w.out[d];
  }
  return steps;
}

// Positions whose window is not clipped in one dimension.
struct Whole {
  Whole(const Window& w, int d) {
    const Int last = w.in[d] + w.pad_low[d] - (w.size[d] - 1) * w.window_dilation[d];
    end = last <= 0 ? 0 : smaller(w.out[d], ceil_div(last, w.stride[d]));
    begin = smaller(end, ceil_div(larger(0, w.pad_low[d]), w.stride[d]));
  }
  bool has(Int position) const { return begin <= position && position < end; }

  Int begin, end;
};

// Form of tiles for a filter of KW taps in a row, with neighbouring positions kStride taps apart,
// so that they share loads. Windows may reach beyond the row: columns outside the image count as
// zero, at most kBeside on each side, so no other column is checked.
template <int KW, int kStride>
struct Edged {
  static constexpr int kMost = 8;
  static constexpr int kBeside = KW / 2;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    constexpr int kColumns = (P - 1) * kStride + KW;
    static constexpr Element kZeros[kLanes<Element>] = {};
    const Int begin = tile.at.begin, end = tile.at.end;
    const auto in_image = [&](int p, const Element* from) TFAOT_ALWAYS {
      if (p < kBeside && p < begin) return &kZeros[0];
      if (p >= kColumns - kBeside && p >= end) return &kZeros[0];
      return from;
    };
    typename Op::State sums[P];
    tile.start(sums);
    tile.each_line([&](const Element* in, const Element* weights) TFAOT_ALWAYS {
      Vec<Element> weight[KW];
      TFAOT_FOR (int k = 0; k < KW; ++k, go_on(weights, tile.taps.filter_step[2])) {
        weight[k] = tile.read(weights);
      }
      TFAOT_FOR (int p = 0; p < kColumns; ++p, go_on(in, tile.taps.step[2])) {
        Vec<Element> x = tile.read(in_image(p, in));
        keep(x);
        TFAOT_EACH (r, P) {
          const int k = p - r * kStride;
          if (k >= 0 && k < KW) sums[r] = Op::step(sums[r], x, weight[k]);
        }
      }
    });
    tile.write(sums);
  }
};

// True if tiles of the form Edged take the windows of a row: their middles are in the image.
inline bool are_edged(const Window& w) {
  const Int width = w.size[2], stride = w.stride[2], dilation = w.window_dilation[2];
  const bool has_form = stride == 1 ? width == 3 || width == 5 || width == 7
                                    : stride == 2 && dilation == 1 && (width == 3 || width == 5);
  const Int first = width / 2 * dilation - w.pad_low[2];
  return has_form && w.pad_low[2] >= 0 && first >= 0 && first + (w.out[2] - 1) * stride < w.in[2];
}

// Fewer channels do not share columns. As a form may have an order of its own, which one is taken
// must not depend on the CPU level.
constexpr Int kFewestShared = kPanelColumns<Element>;

template <typename Op>
void slide_edged(const Op& op, const Taps& taps, const Positions& at, Int count,
                 const Channels& channels) {
  const bool is_one = at.columns == 1;
  if (taps.count[2] == 3) {
    if (is_one) return slide_all<Edged<3, 1>>(op, taps, at, count, channels);
    return slide_all<Edged<3, 2>>(op, taps, at, count, channels);
  }
  if (taps.count[2] == 7) return slide_all<Edged<7, 1>>(op, taps, at, count, channels);
  if (is_one) return slide_all<Edged<5, 1>>(op, taps, at, count, channels);
  slide_all<Edged<5, 2>>(op, taps, at, count, channels);
}

// A length dealt in turn to phases: the first ones may get one more.
struct Dealt {
  Dealt(Int length, Int phases) : each(length), rest(0) {
    if (phases == 1) return;  // divisions are slow
    each = length / phases;
    rest = length % phases;
  }
  Int to(Int phase) const { return each + (phase < rest ? 1 : 0); }

  Int each, rest;
};

// One row. at: the first column of the image, the first result, and their steps. If taps are n
// apart, the windows of every n-th position share columns.
template <typename Op>
TFAOT_ONE_COPY void slide_edged_row(const Op& op, const Taps& taps, const Positions& at,
                                    const Window& w, const Channels& channels) {
  const Int phases = w.window_dilation[2], stride = w.stride[2];
  const Dealt positions(w.out[2], phases), begin(w.pad_low[2], phases);
  const Dealt end(w.in[2] + w.pad_low[2], phases);
  for (Int i = 0; i < smaller(phases, w.out[2]); ++i) {
    slide_edged(op, taps,
                {at.in + (i - w.pad_low[2]) * at.step, phases * stride * at.step, at.filter,
                 at.out + i * at.result, phases * at.result, at.other_result, begin.to(i),
                 end.to(i), stride},
                positions.to(i), channels);
  }
}

// `count` positions by a filter of the form.
template <typename Form, typename Op>
TFAOT_INLINE void slide_filter(const Op& op, const Taps& taps, const Positions& at, Int count,
                               const Channels& channels) {
  if (channels.end - channels.begin < kLanes<Element>) {
    return slide_all<Form, true>(op, taps, at, count, channels);
  }
  slide_all<Form>(op, taps, at, count, channels);
}

// The same for groups of the sizes of is_grouped() in abi.h.
template <typename Op>
void slide_groups(const Op& op, const Taps& taps, const Positions& at, Int count,
                  const Channels& channels) {
  if (op.inputs == 2) return slide_filter<GroupsFilter<2, 2>>(op, taps, at, count, channels);
  if (op.inputs == 4) return slide_filter<GroupsFilter<4, 4>>(op, taps, at, count, channels);
  if (op.outputs == 2) return slide_filter<GroupsFilter<1, 2>>(op, taps, at, count, channels);
  slide_filter<GroupsFilter<1, 4>>(op, taps, at, count, channels);
}

template <typename Op>
void slide_pool(const Op& op, const Taps& taps, const Positions& at, Int count,
                const Channels& channels) {
  const Int width = channels.end - channels.begin;
  if (width >= kFewestShared) {
    const Int size = taps.count[2];
    if (at.step == taps.step[2]) {
      if (size == 2) return slide_all<Overlapping<2, 1>>(op, taps, at, count, channels);
      if (size == 3) return slide_all<Overlapping<3, 1>>(op, taps, at, count, channels);
    }
    if (at.step == 2 * taps.step[2] && size == 3) {
      return slide_all<Overlapping<3, 2>>(op, taps, at, count, channels);
    }
  }
  using Any = AnyTaps<8 / Op::kResults>;
  constexpr Int kWidth = kLanes<Element>, kFew = 4, kFar = 4096 / sizeof(Element);
  const Int vectors = width / kWidth;
  const bool is_far = vectors >= kFew && at.step >= kFar;
  if (vectors < 2 || (count >= kFew && !is_far)) {
    return slide_filter<Any>(op, taps, at, count, channels);
  }
  // Many channels of a pixel at a time, as the next pixel is far away.
  Positions one = {at.in, kWidth, at.filter, at.out, kWidth, at.other_result};
  for (; count > 0; --count, one.in += at.step, one.out += at.result) {
    slide_all<Any>(op, taps, one, vectors, {channels.begin, channels.begin + kWidth});
    if (width % kWidth == 0) continue;
    slide_all<Any>(op, taps, one, 1, {channels.end - kWidth, channels.end});
  }
}

template <typename Op>
TFAOT_ONE_COPY void slide_row(const Op& op, const Taps& taps, const Positions& at, Int count,
                              const Channels& channels) {
  if constexpr (Op::kFilter == Filter::kOfGroups) {
    slide_groups(op, taps, at, count, channels);
  } else if constexpr (Op::kFilter == Filter::kOfChannels) {
    slide_filter<AnyTaps<8>>(op, taps, at, count, channels);
  } else {
    slide_pool(op, taps, at, count, channels);
  }
}

template <typename Op>
class Slide {
 public:
  // REQUIRES: no base dilation. other_result: the distance from one result to the next, if
  // the operation has several.
  Slide(const Op& op, const Window& window, const ChannelCounts& channels, const Element* filter,
        const SlideSteps& steps, Int other_result)
      : op_(op),
        w_(window),
        channels_({0, channels.out}),
        filter_(filter),
        other_result_(other_result),
        is_edged_(Op::kFilter == Filter::kOfChannels && channels.out >= kFewestShared &&
                  are_edged(window)) {
    Int step = channels.in;
    for (int d = kSpatial; d-- > 0;) {
      in_step_[d] = step;
      out_step_[d] = steps.out[d];
      taps_.step[d] = step * w_.window_dilation[d];
      taps_.filter_step[d] = steps.filter[d];
      step *= w_.in[d];
    }
  }

  void image(const Element* in, Element* out) {
    const Whole rows(w_, 1);
    Whole columns(w_, 2);
    const bool by_columns = !is_edged_ && rows.end - rows.begin >= kFewestRows;
    if (by_columns && w_.out[2] < kFewestRows) columns.end = columns.begin;  // all by columns
    for (Int i = 0; i < w_.out[0]; ++i, out += out_step_[0]) {
      const Clip plane(w_, 0, i);
      const Element* const from = in + plane.at * in_step_[0];
      const Element* const filter = filter_ + plane.first * taps_.filter_step[0];
      taps_.count[0] = plane.count;
      for (Int j = 0; j < w_.out[1]; ++j) {
        row_of(from, filter, out + j * out_step_[1], j, columns, !by_columns || !rows.has(j));
      }
      if (!by_columns) continue;
      for (Int k = 0; k < columns.begin; ++k) column_of(from, filter, out, k, rows);
      for (Int k = columns.end; k < w_.out[2]; ++k) column_of(from, filter, out, k, rows);
    }
  }

 private:
  static constexpr Int kFewestRows = 4;  // for doing the edges of an image by columns

  // One row: the positions whose window is complete in the last dimension, and with `all` the
  // others, too.
  void row_of(const Element* in, const Element* filter, Element* out, Int j, const Whole& columns,
              bool all) {
    const Clip row(w_, 1, j);
    in += row.at * in_step_[1];
    filter += row.first * taps_.filter_step[1];
    taps_.count[1] = row.count;
    if constexpr (Op::kFilter == Filter::kOfChannels) {
      if (is_edged_) {
        taps_.count[2] = w_.size[2];
        return slide_edged_row(
            op_, taps_, {in, in_step_[2], filter, out, out_step_[2], other_result_}, w_, channels_);
      }
    }
    if (all) edge(in, filter, out, 0, columns.begin);
    if (columns.begin < columns.end) {
      const Int at = columns.begin * w_.stride[2] - w_.pad_low[2];
      taps_.count[2] = w_.size[2];
      slide_row(op_, taps_,
                {in + at * in_step_[2], w_.stride[2] * in_step_[2], filter,
                 out + columns.begin * out_step_[2], out_step_[2], other_result_},
                columns.end - columns.begin, channels_);
    }
    if (all) edge(in, filter, out, columns.end, w_.out[2]);
  }

  // One position of all rows whose windows are complete, at the edge of the image.
  TFAOT_ONE_COPY void column_of(const Element* in, const Element* filter, Element* out, Int k,
                                const Whole& rows) {
    const Clip column(w_, 2, k);
    const Int at = rows.begin * w_.stride[1] - w_.pad_low[1];
    const auto turned = [](const Int(&by)[kSpatial], Int(&to)[kSpatial]) {
      to[0] = by[0];
      to[1] = by[2];
      to[2] = by[1];
    };
    taps_.count[1] = w_.size[1];
    taps_.count[2] = column.count;
    Taps taps;
    turned(taps_.count, taps.count);
    turned(taps_.step, taps.step);
    turned(taps_.filter_step, taps.filter_step);
    slide_row(op_, taps,
              {in + at * in_step_[1] + column.at * in_step_[2], w_.stride[1] * in_step_[1],
               filter + column.first * taps_.filter_step[2],
               out + rows.begin * out_step_[1] + k * out_step_[2], out_step_[1], other_result_},
              rows.end - rows.begin, channels_);
  }

  // Positions k to end of one row, whose windows are not complete.
  TFAOT_ONE_COPY void edge(const Element* in, const Element* filter, Element* out, Int k, Int end) {
    for (; k < end; ++k) {
      const Clip column(w_, 2, k);
      taps_.count[2] = column.count;
      slide_row(op_, taps_,
                {in + column.at * in_step_[2], w_.stride[2] * in_step_[2],
                 filter + column.first * taps_.filter_step[2], out + k * out_step_[2], out_step_[2],
                 other_result_},
                1, channels_);
    }
  }

  const Op& op_;
  const Window& w_;
  Channels channels_;
  const Element* filter_;
  Int other_result_;
  bool is_edged_;
  Int in_step_[kSpatial], out_step_[kSpatial];
  Taps taps_;
};

// Convolutions of each channel, or of each of many small groups, alone.
struct MultiplyAdd {
  using State = Vec<Element>;
  static constexpr int kResults = 1;
  static constexpr Filter kFilter = Filter::kOfChannels;
  static constexpr Int inputs = 1;  // of a result, per tap
  template <bool kPart>
  Vec<Element> start(Int channel, Int count) const {
    if (bias == nullptr) return Vec<Element>{};
    return load_part<kPart>(bias + channel, count);
  }
  static Vec<Element> step(Vec<Element> sum, Vec<Element> input, Vec<Element> weight) {
    return multiply_add(input, weight, sum);
  }
  Vec<Element> finish(Vec<Element> sum, int /*result*/) const {
    return rectified<Element>(sum, rectifier);
  }

  const Element* bias;  // null: none
  Rectifier rectifier;
};

// Computes all images: an ordinary window for each phase, in place.
template <typename Op>
void slide_phases(const Op& op, const ConvolutionCall& call, const EpilogueOperands& more,
                  void* out, const void** in) {
  SlideSteps all = dense_steps(call.window, call.out_channels);
  for (Int& step : all.filter) step *= op.inputs;
  const Int in_image = input_elements(call.window, call.in_channels);
  const Int out_image = result_elements(call.window, call.out_channels);
  for_each_phase(call.window, [&](const Phase(&phase)[kSpatial]) {
    const Window w = window_of(phase, call.window);
    const Element* image = operand(in, 1);
    const Element* filter = operand(in, 2);
    Element* to = result(out, 0);
    SlideSteps steps = all;
    for (int d = 0; d < kSpatial; ++d) {
      filter += phase[d].first_tap * steps.filter[d];
      to += phase[d].first * steps.out[d];
      steps.filter[d] *= phase[d].tap_step;
      steps.out[d] *= phase[d].step;
    }
    Slide<Op> slide(op, w, {call.in_channels, call.out_channels}, filter, steps, 0);
    for (Int i = 0; i < more.rows; ++i, image += in_image, to += out_image) {
      slide.image(image, to);
      activate({to, out_image, 1, out_image, more.function});
    }
  });
}

// ---- Pooling: an operation without a filter, over all images.

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

template <typename Op>
void pool(const Op& op, void* out, const void** in) {
  const auto& call = call_of<PoolCall>(in);
  const Window& w = call.window;
  const Element* image = operand(in, 1);
  auto* to = static_cast<Element*>(out);
  const Int out_elements = pooled_elements(call);
  Slide<Op> slide(op, w, {call.channels, call.channels}, image /* there is no filter */,
                  dense_steps(w, call.channels), call.batch * out_elements);
  for (Int i = 0; i < call.batch; ++i) {
    slide.image(image, to);
    image += input_elements(w, call.channels);
    to += out_elements;
  }
}

}  // namespace
