// SPDX-License-Identifier: Apache-2.0
// tfaot_winograd_convolution of abi.h: numbers of a block of tiles, their products, then results.
#include "image.h"
#include "lanes.h"

namespace {

using tfaot::kernels::kWinogradInputs;
using tfaot::kernels::kWinogradResults;

// Where a tile's results are.
struct Place {
  Int image, row, column;  // an image of the batch, or a plane of one
};

// Along the last two spatial dimensions: a tile's inputs, and the results made of them.
constexpr int results_of(int inputs) { return inputs == 1 ? 1 : kWinogradResults; }

// Goes over the tiles of all images.
class Walk {
 public:
  Walk(const Window& window, Int row_step, Int column_step)
      : rows_(window.out[1]),
        columns_(window.out[2]),
        row_step_(row_step),
        column_step_(column_step) {}

  TFAOT_INLINE Place next() {
    const Place place = at_;
    at_.column += column_step_;
    if (at_.column >= columns_) {
      at_.column = 0;
      at_.row += row_step_;
      if (at_.row >= rows_) {
        at_.row = 0;
        ++at_.image;
      }
    }
    return place;
  }

 private:
  Int rows_, columns_, row_step_, column_step_;
  Place at_ = {};
};

// use(place, count) for each vector of a pixel's channels. Without masks, a last one that would not
// be whole begins earlier, so use() must not read what it writes.
template <typename Use>
TFAOT_INLINE void along_channels(Int channels, const Use& use) {
  constexpr Int kWidth = kLanes<Element>;
  if (TFAOT_HAS_MASKS || channels < kWidth) return along_row(channels, use);
  Int j = 0;
  for (; j + kWidth <= channels; j += kWidth) use(j, kWidth);
  if (j < channels) use(channels - kWidth, kWidth);
}

TFAOT_INLINE void transform_inputs(Floats& d0, Floats& d1, Floats& d2, Floats& d3) {
  const Floats sum = d1 + d2;
  const Floats difference = d2 - d1;
  d0 -= d2;
  d3 = d1 - d3;
  d1 = sum;
  d2 = difference;
}

TFAOT_INLINE void transform_sums(Floats& s0, Floats& s1, const Floats& s2, const Floats& s3) {
  s0 += s1 + s2;
  s1 -= s2 + s3;
}

template <int kRows, int kColumns>
class Convolution {
 public:
  Convolution(const ConvolutionCall& call, Element* out, const void** in, Element* scratch)
      : call_(call),
        window_(call.window),
        image_(static_cast<const Element*>(in[1])),
        filter_(static_cast<const Element*>(in[2])),
        out_(out),
        patch_(scratch),
        numbers_(patch_ + kMatrices * call.in_channels),
        number_step_(tfaot::kernels::winograd_step(call, call.in_channels)),
        sums_(numbers_ + kMatrices * number_step_),
        sum_step_(tfaot::kernels::winograd_step(call, call.out_channels)),
        rectifier_(rectifier_of(call.epilogue)),
        images_(live_images(call, in)) {
    const void** more = in + 3;
    if ((call.epilogue & tfaot::kernels::kEpilogueBias) != 0) {
      bias_ = static_cast<const Element*>(*more++);
    }
    if ((call.epilogue & tfaot::kernels::kEpilogueSum) != 0) {
      addends_ = static_cast<const Element*>(*more);
    }
  }

  void compute() {
    const Int tiles = tfaot::kernels::winograd_tiles(call_) / call_.batch * images_;
    const Int most = tfaot::kernels::winograd_tiles_at_once(call_);
    Walk read(window_, results_of(kRows), results_of(kColumns));
    Walk written = read;
    for (Int done = 0; done < tiles; done += most) {
      const Int count = smaller(most, tiles - done);
      for (Int i = 0; i < count; ++i) make_numbers(read.next(), i);
      multiply(count);
      for (Int i = 0; i < count; ++i) make_results(written.next(), i);
    }
  }

 private:
  static constexpr Int kMatrices = Int{kRows} * kColumns;

  void make_numbers(Place place, Int tile) {
    const Int channels = call_.in_channels;
    const Int row = place.row - window_.pad_low[1];
    const Int column = place.column - window_.pad_low[2];
    const Element* from =
        image_ + ((place.image * window_.in[1] + row) * window_.in[2] + column) * channels;
    Int row_step = window_.in[2] * channels;
    if (row < 0 || column < 0 || row + kRows > window_.in[1] || column + kColumns > window_.in[2]) {
      fill_patch(from, row_step, row, column);
      from = patch_;
      row_step = kColumns * channels;
    }
    Element* const to = numbers_ + tile * channels;
    const Int step = number_step_;
    along_channels(channels, [&](Int j, Int count) {
      Floats d[kRows][kColumns];
      TFAOT_UNROLL
      for (int r = 0; r < kRows; ++r) {
        TFAOT_UNROLL
        for (int c = 0; c < kColumns; ++c) {
          d[r][c] = load_some(from + r * row_step + c * channels + j, count);
        }
      }
      if constexpr (kRows > 1) {
        TFAOT_UNROLL
        for (int c = 0; c < kColumns; ++c) transform_inputs(d[0][c], d[1][c], d[2][c], d[3][c]);
      }
      if constexpr (kColumns > 1) {
        TFAOT_UNROLL
        for (int r = 0; r < kRows; ++r) transform_inputs(d[r][0], d[r][1], d[r][2], d[r][3]);
      }
      TFAOT_UNROLL
      for (int i = 0; i < kMatrices; ++i) {
        store_some(to + i * step + j, d[i / kColumns][i % kColumns], count);
      }
    });
  }

  // The inputs of a tile, with zeros for those outside of the image.
  void fill_patch(const Element* from, Int row_step, Int row, Int column) {
    const Int channels = call_.in_channels;
    Element* to = patch_;
    for (Int r = 0; r < kRows; ++r) {
      for (Int c = 0; c < kColumns; ++c, to += channels) {
        const bool is_inside = row + r >= 0 && row + r < window_.in[1] && column + c >= 0 &&
                               column + c < window_.in[2];
        if (is_inside) {
          copy_elements(to, from + r * row_step + c * channels, channels);
        } else {
          __builtin_memset(to, 0, static_cast<unsigned long>(channels) * sizeof(Element));
        }
      }
    }
  }

  void multiply(Int tiles) {
    Gemm g = plain_product(tiles, call_.in_channels, call_.in_channels);
    g.c_row = g.columns = call_.out_channels;
    g.a = numbers_;
    g.b = filter_;
    g.c = sums_;
    for (Int i = 0; i < kMatrices; ++i) {
      TFAOT_KERNEL(gemm)(&g);
      g.a += number_step_;
      g.b += ceil_div(g.columns, kPanelColumns<Element>) * g.b_panel;
      g.c += sum_step_;
    }
  }

  void make_results(Place place, Int tile) {
    const Int channels = call_.out_channels;
    const Int row_step = window_.out[2] * channels;
    const Int at =
        ((place.image * window_.out[1] + place.row) * window_.out[2] + place.column) * channels;
    const bool has_row = kRows > 1 && place.row + 1 < window_.out[1];
    const bool has_column = kColumns > 1 && place.column + 1 < window_.out[2];
    const Element* const from = sums_ + tile * channels;
    const Int step = sum_step_;
    along_channels(channels, [&](Int j, Int count) {
      Floats s[kRows][kColumns];
      TFAOT_UNROLL
      for (int i = 0; i < kMatrices; ++i) {
        s[i / kColumns][i % kColumns] = load_some(from + i * step + j, count);
      }
      if constexpr (kRows > 1) {
        TFAOT_UNROLL
        for (int c = 0; c < kColumns; ++c) transform_sums(s[0][c], s[1][c], s[2][c], s[3][c]);
      }
      if constexpr (kColumns > 1) {
        for (int r = 0; r < results_of(kRows); ++r) {
          transform_sums(s[r][0], s[r][1], s[r][2], s[r][3]);
        }
      }
      const Floats bias = bias_ == nullptr ? Floats{} : load_some(bias_ + j, count);
      put(at + j, s[0][0] + bias, count);
      if (has_column) put(at + channels + j, s[0][kColumns > 1] + bias, count);
      if (has_row) put(at + row_step + j, s[kRows > 1][0] + bias, count);
      if (has_row && has_column) {
        put(at + row_step + channels + j, s[kRows > 1][kColumns > 1] + bias, count);
      }
    });
  }

  TFAOT_INLINE void put(Int at, Floats result, Int count) {
    if (addends_ != nullptr) result += load_some(addends_ + at, count);
    store_some(out_ + at, rectified<Element>(result, rectifier_), count);
  }

  const ConvolutionCall& call_;
  const Window& window_;
  const Element* image_;
  const Element* filter_;
  Element* out_;
  Element* patch_;
  Element* numbers_;
  Int number_step_;
  Element* sums_;
  Int sum_step_;
  Rectifier rectifier_;
  Int images_;
  const Element* bias_ = nullptr;     // null: none
  const Element* addends_ = nullptr;  // null: none
};

}  // namespace

extern "C" void TFAOT_KERNEL(winograd_convolution)(void* out, const void** in) {
  const auto& call = *static_cast<const ConvolutionCall*>(in[0]);
  auto* const* const results = static_cast<void* const*>(out);
  auto* const result = static_cast<Element*>(results[0]);
  auto* const scratch = static_cast<Element*>(results[1]);
  constexpr int kTile = kWinogradInputs;
  if (call.window.size[1] == 1) return Convolution<1, kTile>(call, result, in, scratch).compute();
  if (call.window.size[2] == 1) return Convolution<kTile, 1>(call, result, in, scratch).compute();
  Convolution<kTile, kTile>(call, result, in, scratch).compute();
}
