// SPDX-License-Identifier: Apache-2.0
// tfaot_winograd_convolution of abi.h: numbers of a block of tiles, their products, then results.
#include "image.h"
#include "lanes.h"

namespace {

using tfaot::kernels::kWinogradPoints;
using tfaot::kernels::kWinogradSize;
using tfaot::kernels::WinogradCall;

// Where a tile's results are.
struct Place {
  Int image, row, column;  // an image of the batch, or a plane of one
};

// Along the last two spatial dimensions: a tile's inputs, and the results made of them.
constexpr int results_of(int inputs) {
  return inputs == 1 ? 1 : inputs - static_cast<int>(kWinogradSize) + 1;
}

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

// Along one dimension, a tile's inputs become its numbers, in place.
template <int N>
TFAOT_INLINE void transform_inputs(Floats (&d)[N]) {
  if constexpr (N == 4) {
    const Floats sum = d[1] + d[2];
    const Floats difference = d[2] - d[1];
    d[0] -= d[2];
    d[3] = d[1] - d[3];
    d[1] = sum;
    d[2] = difference;
  } else if constexpr (N == 6) {
    constexpr auto a = static_cast<float>(kWinogradPoints[0]);
    constexpr auto b = static_cast<float>(kWinogradPoints[1]);
    const Floats even_a = d[4] - 2.0F * d[2];
    const Floats odd_a = a * (d[3] - 2.0F * d[1]);
    const Floats even_b = d[4] - 0.5F * d[2];
    const Floats odd_b = b * (d[3] - 0.5F * d[1]);
    d[0] += d[4] - 2.5F * d[2];
    d[5] += d[1] - 2.5F * d[3];
    d[1] = even_a + odd_a;
    d[2] = even_a - odd_a;
    d[3] = even_b + odd_b;
    d[4] = even_b - odd_b;
  }
}

// Along one dimension, a tile's sums become its results, in the first places.
template <int N>
TFAOT_INLINE void transform_sums(Floats (&s)[N]) {
  if constexpr (N == 4) {
    s[0] += s[1] + s[2];
    s[1] -= s[2] + s[3];
  } else if constexpr (N == 6) {
    constexpr auto a = static_cast<float>(kWinogradPoints[0]);
    constexpr auto b = static_cast<float>(kWinogradPoints[1]);
    const Floats even_a = s[1] + s[2], odd_a = a * (s[1] - s[2]);
    const Floats even_b = s[3] + s[4], odd_b = b * (s[3] - s[4]);
    s[0] += even_a + even_b;
    s[1] = odd_a + odd_b;
    s[2] = 0.5F * even_a + 2.0F * even_b;
    s[3] = 0.5F * odd_a + 2.0F * odd_b + s[5];
  }
}

template <int kRows, int kColumns>
class Convolution {
 public:
  Convolution(const WinogradCall& winograd, Element* out, const void** in, Element* scratch)
      : winograd_(winograd),
        call_(winograd.convolution),
        window_(call_.window),
        image_(static_cast<const Element*>(in[1])),
        filter_(static_cast<const Element*>(in[2])),
        out_(out),
        patch_(scratch),
        numbers_(patch_ + kMatrices * call_.in_channels),
        number_step_(tfaot::kernels::winograd_step(winograd, call_.in_channels)),
        sums_(numbers_ + kMatrices * number_step_),
        sum_step_(tfaot::kernels::winograd_step(winograd, call_.out_channels)),
        rectifier_(rectifier_of(call_.epilogue)),
        images_(live_images(call_, in)) {
    const void** more = in + 3;
    if ((call_.epilogue & tfaot::kernels::kEpilogueBias) != 0) {
      bias_ = static_cast<const Element*>(*more++);
    }
    if ((call_.epilogue & tfaot::kernels::kEpilogueSum) != 0) {
      addends_ = static_cast<const Element*>(*more);
    }
  }

  void compute() {
    const Int tiles = tfaot::kernels::winograd_tiles(winograd_) / call_.batch * images_;
    const Int most = tfaot::kernels::winograd_tiles_at_once(winograd_);
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
      Floats numbers[kColumns][kRows];
      for (int c = 0; c < kColumns; ++c) {
        TFAOT_UNROLL
        for (int r = 0; r < kRows; ++r) {
          numbers[c][r] = load_some(from + r * row_step + c * channels + j, count);
        }
        transform_inputs(numbers[c]);
      }
      for (int r = 0; r < kRows; ++r) {
        Floats line[kColumns];
        TFAOT_UNROLL
        for (int c = 0; c < kColumns; ++c) line[c] = numbers[c][r];
        transform_inputs(line);
        TFAOT_UNROLL
        for (int c = 0; c < kColumns; ++c) {
          store_some(to + (r * kColumns + c) * step + j, line[c], count);
        }
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
    const Int rows = smaller(results_of(kRows), window_.out[1] - place.row);
    const Int columns = smaller(results_of(kColumns), window_.out[2] - place.column);
    const Element* const from = sums_ + tile * channels;
    const Int step = sum_step_;
    along_channels(channels, [&](Int j, Int count) {
      Floats sums[kColumns][kRows];
      for (int c = 0; c < kColumns; ++c) {
        TFAOT_UNROLL
        for (int r = 0; r < kRows; ++r) {
          sums[c][r] = load_some(from + (r * kColumns + c) * step + j, count);
        }
        transform_sums(sums[c]);
      }
      const Floats bias = bias_ == nullptr ? Floats{} : load_some(bias_ + j, count);
      for (int r = 0; r < results_of(kRows); ++r) {
        if (r >= rows) return;
        Floats line[kColumns];
        TFAOT_UNROLL
        for (int c = 0; c < kColumns; ++c) line[c] = sums[c][r];
        transform_sums(line);
        for (int c = 0; c < results_of(kColumns); ++c) {
          if (c < columns) put(at + r * row_step + c * channels + j, line[c] + bias, count);
        }
      }
    });
  }

  TFAOT_INLINE void put(Int at, Floats result, Int count) {
    if (addends_ != nullptr) result += load_some(addends_ + at, count);
    store_some(out_ + at, rectified<Element>(result, rectifier_), count);
  }

  const WinogradCall& winograd_;
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

template <int kInputs>
void convolve(const WinogradCall& call, Element* result, const void** in, Element* scratch) {
  const Window& w = call.convolution.window;
  if (w.size[1] == 1) return Convolution<1, kInputs>(call, result, in, scratch).compute();
  if (w.size[2] == 1) return Convolution<kInputs, 1>(call, result, in, scratch).compute();
  Convolution<kInputs, kInputs>(call, result, in, scratch).compute();
}

}  // namespace

extern "C" void TFAOT_KERNEL(winograd_convolution)(void* out, const void** in) {
  const auto& call = *static_cast<const WinogradCall*>(in[0]);
  auto* const* const results = static_cast<void* const*>(out);
  auto* const result = static_cast<Element*>(results[0]);
  auto* const scratch = static_cast<Element*>(results[1]);
  if (call.results == 2) return convolve<4>(call, result, in, scratch);
  convolve<6>(call, result, in, scratch);
}
