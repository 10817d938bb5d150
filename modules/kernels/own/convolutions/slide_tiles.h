// SPDX-License-Identifier: Apache-2.0
// The inner loops of slide.h: several neighbouring positions by a vector of channels, with sums in
// registers.
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
  Int begin = 0, end = 0;  // of the columns from `in` on that are in the image; for Edged alone
};

template <bool kPart>
TFAOT_INLINE Vec<Element> load_channels(const Element* from, Int count) {
  if constexpr (kPart) return load_first(from, count);
  return load(from);
}

// The work of a tile on one vector of channels. kPart: only `count` of them are read and written.
template <typename Op, bool kPart>
struct Tile {
  using State = typename Op::State;

  TFAOT_INLINE State start() const { return op.template start<kPart>(channel, count); }
  template <int N>
  TFAOT_INLINE void start(State (&sums)[N]) const {
    TFAOT_UNROLL
    for (int i = 0; i < N; ++i) sums[i] = start();
  }
  TFAOT_INLINE Vec<Element> read(const Element* from) const {
    return load_channels<kPart>(from, count);
  }
  TFAOT_INLINE void write(const State& state, Int position) const {
    write(state, at.out + position * at.result + channel);
  }
  TFAOT_INLINE void write(const State& state, Element* to) const {
    TFAOT_UNROLL
    for (int which = 0; which < Op::kResults; ++which) {
      const Vec<Element> value = op.finish(state, which);
      if constexpr (kPart) {
        store_first(to + which * at.other_result, value, count);
      } else {
        store(to + which * at.other_result, value);
      }
    }
  }
  // Writes neighbouring positions.
  template <int P>
  TFAOT_INLINE void write(const State (&sums)[P]) const {
    Element* to = at.out + channel;
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r, go_on(to, at.result)) write(sums[r], to);
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
  Int apart = kLanes<Element>;  // from one vector to the next, of several
};

// Takes a row of KW taps for P positions, which are kStride of the taps apart, so that neighbours
// share their loads. in_image(p, from): the address to read column p from, which is `from` if the
// column is in the image.
template <int P, int KW, int kStride, typename Op, bool kPart, typename Where>
TFAOT_INLINE void slide_taps(const Tile<Op, kPart>& tile, typename Op::State (&sums)[P],
                             const Element* in, const Element* weights, const Where& in_image) {
  Vec<Element> weight[KW];
  TFAOT_UNROLL
  for (int k = 0; k < KW; ++k, go_on(weights, tile.taps.filter_step[2])) {
    weight[k] = tile.read(weights);
  }
  TFAOT_UNROLL
  for (int p = 0; p < (P - 1) * kStride + KW; ++p, go_on(in, tile.taps.step[2])) {
    Vec<Element> x = tile.read(in_image(p, in));
    keep(x);
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) {
      const int k = p - r * kStride;
      if (k >= 0 && k < KW) sums[r] = Op::step(sums[r], x, weight[k]);
    }
  }
}

// The forms of tiles: P positions by a vector. kMost: the most positions. kExact: each smaller
// number of positions has a tile, too.

// Forms whose columns are all in the image.
struct InImage {
  static TFAOT_INLINE void move_on(Positions& /*at*/, Int /*positions*/) {}
};

// Any filter. kShared: the number of neighbouring taps taken together, if they are as far apart as
// the positions; 1: none.
template <int kShared>
struct AnyFilter : InImage {
  static constexpr int kMost = 8;
  static constexpr bool kExact = false;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P];
    tile.start(sums);
    tile.each_line([&](const Element* in, const Element* weights) __attribute__((always_inline)) {
      const Taps& taps = tile.taps;
      Int k = 0;
      if constexpr (kShared > 1) {
        for (; k + kShared <= taps.count[2]; k += kShared) {
          slide_taps<P, kShared, 1>(tile, sums, in, weights,
                                    [](int /*p*/, const Element* from) { return from; });
          in += kShared * taps.step[2];
          weights += kShared * taps.filter_step[2];
        }
      }
      for (; k < taps.count[2]; ++k, in += taps.step[2], weights += taps.filter_step[2]) {
        const Vec<Element> weight = tile.read(weights);
        TFAOT_UNROLL
        for (int r = 0; r < P; ++r) {
          sums[r] = Op::step(sums[r], tile.read(in + r * tile.at.step), weight);
        }
      }
    });
    tile.write(sums);
  }
};

// No filter: KW taps in a row, with neighbouring positions kStride taps apart, fewer than KW.
// Columns of the windows are joined first, once for all windows that have them.
template <int KH, int KW, int kStride>
struct Overlapping : InImage {
  static constexpr int kMost = TFAOT_VECTOR_REGISTERS == 32 ? 8 : 4;
  static constexpr bool kExact = false;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    constexpr int kColumns = (P - 1) * kStride + KW;
    typename Op::State columns[kColumns];
    tile.start(columns);
    const auto line = [&](const Element* in, const Element*) __attribute__((always_inline)) {
      TFAOT_UNROLL
      for (int p = 0; p < kColumns; ++p) {
        columns[p] = Op::step(columns[p], tile.read(in + p * tile.taps.step[2]));
      }
    };
    if constexpr (KH != 0) {
      TFAOT_UNROLL
      for (int i = 0; i < KH; ++i) line(tile.at.in + i * tile.taps.step[1] + tile.channel, nullptr);
    } else {
      tile.each_line(line);
    }
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) {
      typename Op::State sum = columns[r * kStride];
      TFAOT_UNROLL
      for (int k = 1; k < KW; ++k) sum = Op::join(sum, columns[r * kStride + k]);
      tile.write(sum, r);
    }
  }
};

// The same for windows of KH by KW taps that do not overlap, by NV vectors. 0: any number of taps.
template <int KH, int KW>
struct Apart : InImage {
  template <int P, int NV = 1, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P][NV];
    const auto vector = [&](int v) __attribute__((always_inline)) {
      return Tile<Op, kPart>{tile.op, tile.taps, tile.at, tile.channel + v * tile.apart,
                             tile.count};
    };
    TFAOT_UNROLL
    for (int i = 0; i < P * NV; ++i) sums[i / NV][i % NV] = vector(i % NV).start();
    const auto tap = [&](const Element* in) __attribute__((always_inline)) {
      TFAOT_UNROLL
      for (int i = 0; i < P * NV; ++i) {
        const Element* const from = in + i / NV * tile.at.step + i % NV * tile.apart;
        sums[i / NV][i % NV] = Op::step(sums[i / NV][i % NV], tile.read(from));
      }
    };
    if constexpr (KH != 0) {
      TFAOT_UNROLL
      for (int i = 0; i < KH * KW; ++i) {
        tap(tile.at.in + i / KW * tile.taps.step[1] + i % KW * tile.taps.step[2] + tile.channel);
      }
    } else {
      tile.each_line([&](const Element* in, const Element*) __attribute__((always_inline)) {
        for (Int k = 0; k < tile.taps.count[2]; ++k, in += tile.taps.step[2]) tap(in);
      });
    }
    TFAOT_UNROLL
    for (int i = 0; i < P * NV; ++i) vector(i % NV).write(sums[i / NV][i % NV], i / NV);
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
    Form::move_on(at, P);
  }
}

// Tiles of all sizes of a form. Referenced structs are copied first, because the compiler must
// assume that a store changes them.
template <typename Form, typename Op>
__attribute__((noinline)) void slide_all(const Op op, const Taps& all_taps,
                                         const Positions& positions, Int count, Channels channels) {
  const Taps taps = all_taps;
  Positions at = positions;
  constexpr int kMost = Form::kMost;
  slide_some<Form, kMost, false>(op, taps, at, count, channels);
  if constexpr (Form::kExact) {  // for so few positions, two tiles cost more than more code
    slide_some<Form, 7, false>(op, taps, at, count, channels);
    slide_some<Form, 6, false>(op, taps, at, count, channels);
    slide_some<Form, 5, false>(op, taps, at, count, channels);
  }
  if constexpr (kMost > 4) slide_some<Form, 4, false>(op, taps, at, count, channels);
  if constexpr (Form::kExact) slide_some<Form, 3, false>(op, taps, at, count, channels);
  slide_some<Form, 2, false>(op, taps, at, count, channels);
  slide_some<Form, 1, false>(op, taps, at, count, channels);
}

// The same for fewer channels than a vector has.
template <typename Form, typename Op>
__attribute__((noinline)) void slide_part(const Op op, const Taps& all_taps,
                                          const Positions& positions, Int count,
                                          Channels channels) {
  const Taps taps = all_taps;
  Positions at = positions;
  if constexpr (TFAOT_HAS_MASKS) slide_some<Form, 4, true>(op, taps, at, count, channels);
  slide_some<Form, 1, true>(op, taps, at, count, channels);
}

// One position by NV vectors at a time; returns the next channel.
template <typename Form, int NV, typename Op>
TFAOT_INLINE Int slide_vectors(const Op& op, const Taps& taps, const Positions& at, Int c,
                               Int end) {
  constexpr Int kWidth = kLanes<Element>;
  for (; c + NV * kWidth <= end; c += NV * kWidth) {
    Form::template slide<1, NV>(Tile<Op, false>{op, taps, at, c, kWidth});
  }
  return c;
}

// Windows that do not overlap: several positions of few channels, or one of many. Many channels of
// a pixel at a time, as the next pixel may be far away.
template <typename Form, typename Op>
__attribute__((noinline)) void slide_apart(const Op op, const Taps& all_taps,
                                           const Positions& positions, Int count,
                                           Channels channels) {
  constexpr Int kWidth = kLanes<Element>;
  constexpr int kVectors = TFAOT_VECTOR_REGISTERS / 2 / Op::kResults;
  constexpr Int kFew = 4;
  const Taps taps = all_taps;
  Positions at = positions;
  if (count >= kFew && channels.end - channels.begin < kFew * kWidth) {
    slide_some<Form, kFew, false>(op, taps, at, count, channels);
    return slide_some<Form, 1, false>(op, taps, at, count, channels);
  }
  for (; count > 0; --count, at.in += at.step, at.out += at.result) {
    Int c = slide_vectors<Form, kVectors>(op, taps, at, channels.begin, channels.end);
    if constexpr (kVectors > 8) c = slide_vectors<Form, 8>(op, taps, at, c, channels.end);
    if constexpr (kVectors > 4) c = slide_vectors<Form, 4>(op, taps, at, c, channels.end);
    c = slide_vectors<Form, 2>(op, taps, at, c, channels.end);
    const Int rest = channels.end - c;
    if (rest > kWidth) {
      Form::template slide<1, 2>(Tile<Op, false>{op, taps, at, c, kWidth, rest - kWidth});
    } else if (rest > 0) {
      Form::template slide<1, 1>(Tile<Op, false>{op, taps, at, channels.end - kWidth, kWidth});
    }
  }
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
struct GroupsFilter : InImage {
  static constexpr int kWidth = kLanes<Element>;
  static constexpr bool kIsOneGroup = O >= kWidth;  // for a vector of results
  static constexpr int kMost = TFAOT_VECTOR_REGISTERS == 32 ? 8 : kIsOneGroup ? 4 : 6;
  static constexpr bool kExact = false;

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
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) {
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
      TFAOT_UNROLL
      for (int r = 0; r < P; ++r) sums[r] = Op::step(sums[r], x[r], weight);
      add<J + 1>(tile, sums, inputs, from, weights + tile.op.filter_row);
    }
  }

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P];
    tile.start(sums);
    const Int first = tile.channel / O * I - tile.channel;
    tile.each_line([&](const Element* in, const Element* weights) __attribute__((always_inline)) {
      in += first;
      for (Int k = 0; k < tile.taps.count[2]; ++k) {
        Vec<Element> inputs[P] = {};
        if constexpr (!kIsOneGroup) {
          TFAOT_UNROLL
          for (int r = 0; r < P; ++r) {
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

}  // namespace
