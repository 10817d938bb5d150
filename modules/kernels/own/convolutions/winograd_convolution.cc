// SPDX-License-Identifier: Apache-2.0
// tfaot_winograd_convolution of abi.h: numbers of a block of tiles, their products, then results.
#include "convolutions/image.h"
#include "simd/vec.h"

namespace {

// Results of a tile along a spatial dimension, by its inputs.
constexpr int results_of(int inputs) {
  return inputs == 1 ? 1 : inputs - static_cast<int>(kWinogradSize) + 1;
}

// Along one dimension, a tile's N inputs are transformed to N numbers, in parts of one or two
// numbers that need few of the inputs.
template <int N>
constexpr int kParts = N == 6   ? 4
                       : N == 4 ? 3
                                : 1;
template <int N, int PART>
constexpr int kPartSize = PART == 0 || PART == kParts<N> - 1 ? 1 : 2;

// The numbers of a part. d(i): an input.
template <int N, int PART, typename Input>
TFAOT_INLINE void make_part(const Input& d, Floats (&made)[kPartSize<N, PART>]) {
  constexpr auto a = static_cast<float>(kWinogradPoints[0]);
  constexpr auto b = static_cast<float>(kWinogradPoints[1]);
  if constexpr (N == 1) {
    made[0] = d(0);
  } else if constexpr (N == 4 && PART == 0) {
    made[0] = d(0) - d(2);
  } else if constexpr (N == 4 && PART == 1) {
    made[0] = d(1) + d(2);
    made[1] = d(2) - d(1);
  } else if constexpr (N == 4) {
    made[0] = d(1) - d(3);
  } else if constexpr (PART == 0) {
    made[0] = d(0) + multiply_add<-1>(d(2), 2.5F, d(4));
  } else if constexpr (PART == 3) {
    made[0] = d(5) + multiply_add<-1>(d(3), 2.5F, d(1));
  } else {
    constexpr float kPoint = PART == 1 ? a : b, kOther = PART == 1 ? 2.0F : 0.5F;
    const Floats even = multiply_add<-1>(d(2), kOther, d(4));
    const Floats odd = multiply_add<-1>(d(1), kOther, d(3));
    made[0] = multiply_add(odd, kPoint, even);
    made[1] = multiply_add<-1>(odd, kPoint, even);
  }
}

// Along one dimension, transforms a tile's sums to its results, in the first places.
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
    s[2] = multiply_add(even_a, 0.5F, 2.0F * even_b);
    s[3] = multiply_add(odd_a, 0.5F, multiply_add(odd_b, 2.0F, s[5]));
  }
}

// A vector of channels of a tile's inputs.
template <int kRows>
struct TileInputs {
  bool has_column(int c) const { return begin <= c && c < end; }

  const Element* const (&rows)[kRows];
  Int begin, end;  // of the columns that are in the image
  Int first;       // of the channels
  Int step;        // from one column to the next
  Int count;       // of the vector
};

// Computes all numbers of a tile, `step` apart. Each part loads the inputs that it needs again, so
// that registers hold sums alone.
template <int kRows, int kColumns>
TFAOT_INLINE void make_tile_numbers(const TileInputs<kRows>& inputs, Element* to, Int step) {
  for_each<kParts<kRows>>([&](auto part) TFAOT_ALWAYS {
    constexpr int kPart = part, kLines = kPartSize<kRows, kPart>;
    Floats lines[kColumns][kLines];
    Int at = inputs.first;
    const auto input = [&](int r)
                           TFAOT_ALWAYS { return load_some(inputs.rows[r] + at, inputs.count); };
    TFAOT_FOR (int c = 0; c < kColumns; ++c, go_on(at, inputs.step)) {
      if (inputs.has_column(c)) {
        make_part<kRows, kPart>(input, lines[c]);
      } else {
        for (Floats& line : lines[c]) line = Floats{};
      }
    }
    TFAOT_EACH (line, kLines) {
      const auto number = [&](int c) TFAOT_ALWAYS { return lines[c][line]; };
      for_each<kParts<kColumns>>([&](auto of_line) TFAOT_ALWAYS {
        Floats made[kPartSize<kColumns, of_line>];
        make_part<kColumns, of_line>(number, made);
        for (const Floats& one : made) {
          store_some(to, one, inputs.count);
          go_on(to, step);
        }
      });
    }
  });
}

// The position of a tile's results.
struct Place {
  Int image, row, column;  // an image of the batch, or a plane of one
};

// Calls use(place, count) for each vector of a pixel's channels. The last vector begins earlier to
// be whole, so use() must not read what it writes.
template <typename Use>
TFAOT_INLINE void along_channels(Int channels, const Use& use) {
  constexpr Int kWidth = kLanes<Element>;
  if (channels < kWidth) return use(0, channels);
  for (Int j = 0; j < channels; j += kWidth) use(smaller(j, channels - kWidth), kWidth);
}

// Steps between neighbours in memory.
struct Steps {
  Int image, row, column;
};

// With kRows of 1, a tile's columns lie along the one dimension in which the window has size 3.
template <int kRows, int kColumns>
class Convolution {
 public:
  Convolution(const WinogradCall& winograd, void* out, const void** in)
      : winograd_(winograd),
        call_(winograd.convolution),
        window_(call_.window),
        row_(window_.size[2] == 1 ? 2 : 1),
        column_(kSpatial - row_),
        image_(operand(in, 1)),
        filter_(operand(in, 2)),
        out_(result(out, 0)),
        more_(epilogue_of(call_, in)),
        number_step_(winograd_step(winograd, call_.in_channels)),
        sum_step_(winograd_step(winograd, call_.out_channels)),
        rectifier_(rectifier_of(call_.epilogue)) {}

  void compute(Element* scratch) const {
    const Int tiles = winograd_tiles(winograd_) / call_.batch * more_.rows;
    const Int most = winograd_tiles_at_once(winograd_);
    const auto block_at = [&](Int first) { return Block{first, smaller(most, tiles - first)}; };
    if (more_.tasks == nullptr || has_even_blocks(tiles, most)) {
      return share_or_run(more_.tasks, ceil_div(tiles, most), scratch,
                          [&](Int piece, Element* memory) {
                            compute_block(block_at(piece * most), room_in(memory));
                          });
    }
    for (Int done = 0; done < tiles; done += most) share_block(block_at(done), room_in(scratch));
  }

 private:
  static constexpr Int kMatrices = Int{kRows} * kColumns;

  // The parts of the scratch memory.
  struct Room {
    Element* zeros;  // a row of pixels outside of the image
    Element* numbers;
    Element* sums;
  };
  // Tiles that are processed together.
  struct Block {
    Int first, count;
  };

  Room room_in(Element* scratch) const {
    Element* const numbers = scratch + winograd_row(winograd_);
    return {scratch, numbers, numbers + kMatrices * number_step_};
  }

  // A part of a block's work: some tiles' numbers, some matrices, and some tiles' results.
  struct Part {
    Int first_number, end_number, first_matrix, end_matrix, first_result, end_result;
  };

  TFAOT_ONE_COPY void compute_part(const Block& block, const Room& room, const Part& part) const {
    const Convolution self = *this;
    const Room own = room;
    if (part.first_number < part.end_number) {  // else they may be another lane's zeros
      const Int zeros = winograd_row(winograd_);
      for (Int i = 0; i < zeros; i += kLanes<Element>) store(own.zeros + i, Floats{});
    }
    for (Int i = part.first_number; i < part.end_number; ++i) {
      self.make_numbers(self.place_of(block.first + i), i, own);
    }
    if (part.first_matrix < part.end_matrix) {
      self.multiply(block, part.first_matrix, part.end_matrix, own);
    }
    for (Int i = part.first_result; i < part.end_result; ++i) {
      self.make_results(self.place_of(block.first + i), i, own);
    }
  }
  void compute_block(const Block& block, const Room& room) const {
    compute_part(block, room, {0, block.count, 0, kMatrices, 0, block.count});
  }

  // True if lanes that take whole blocks end at about the same time.
  bool has_even_blocks(Int tiles, Int most) const {
    const Int whole = tiles / most;
    const Int last = whole % more_.tasks->lanes == 0 ? tiles % most : 0;
    const Int longest = ceil_div(whole, more_.tasks->lanes) * most + last;
    return tiles * 100 >= longest * more_.tasks->lanes * 85;
  }

  // Computes one block by all lanes: its numbers, then the products, then the results.
  void share_block(const Block& block, const Room& room) const {
    tfaot::Tasks& tasks = *more_.tasks;
    const Int parts = smaller(block.count, 2 * tasks.lanes);
    const auto start_of = [&](Int part) { return block.count * part / parts; };
    share(tasks, parts, [&](Int piece, Int lane) {
      Room own = room;
      own.zeros = scratch_of(tasks, lane);
      compute_part(block, own, {start_of(piece), start_of(piece + 1), 0, 0, 0, 0});
    });
    share(tasks, kMatrices, [&](Int piece, Int /*lane*/) {
      compute_part(block, room, {0, 0, piece, piece + 1, 0, 0});
    });
    share(tasks, parts, [&](Int piece, Int /*lane*/) {
      compute_part(block, room, {0, 0, 0, 0, start_of(piece), start_of(piece + 1)});
    });
  }

  TFAOT_INLINE Place place_of(Int tile) const {
    constexpr int kRowStep = results_of(kRows), kColumnStep = results_of(kColumns);
    const auto in_row = static_cast<unsigned>(ceil_div(window_.out[column_], kColumnStep));
    const auto rows = static_cast<unsigned>(ceil_div(window_.out[row_], kRowStep));
    const auto number = static_cast<unsigned>(tile);  // the CPU divides it faster
    const unsigned row = number / in_row;
    return {row / rows, Int{row % rows} * kRowStep, Int{number % in_row} * kColumnStep};
  }

  TFAOT_INLINE Steps steps_of(const Int (&size)[kSpatial], Int channels) const {
    const Int line = size[2] * channels;
    return {size[1] * line, row_ == 1 ? line : channels, row_ == 1 ? channels : line};
  }

  TFAOT_INLINE void make_numbers(Place place, Int tile, const Room& room) const {
    const Int channels = call_.in_channels;
    const Int row = place.row - window_.pad_low[row_];
    const Int column = place.column - window_.pad_low[column_];
    const Steps step = steps_of(window_.in, channels);
    const Element* const from =
        image_ + place.image * step.image + row * step.row + column * step.column;
    const Element* rows[kRows];
    for (int r = 0; r < kRows; ++r) {
      rows[r] = row + r >= 0 && row + r < window_.in[row_] ? from + r * step.row : room.zeros;
    }
    const Int begin = larger(0, -column), end = smaller(kColumns, window_.in[column_] - column);
    Element* const to = room.numbers + tile * channels;
    along_channels(channels, [&](Int j, Int count) TFAOT_ALWAYS {
      const TileInputs<kRows> inputs = {rows, begin, end, j, step.column, count};
      make_tile_numbers<kRows, kColumns>(inputs, to + j, number_step_);
    });
  }

  // Multiplies with the matrices from `first` to `end`.
  void multiply(const Block& block, Int first, Int end, const Room& room) const {
    Gemm g = plain_product(block.count, call_.in_channels, call_.in_channels);
    set_columns(g, call_.out_channels);
    g.c_row = g.columns;
    g.matrices = end - first;
    g.a_matrix = number_step_;
    g.b_matrix = ceil_div(g.columns, kPanelColumns<Element>) * g.b_panel;
    g.c_matrix = sum_step_;
    g.a = room.numbers + first * g.a_matrix;
    g.b = filter_ + first * g.b_matrix;
    g.c = room.sums + first * g.c_matrix;
    TFAOT_KERNEL(gemm)(&g);
  }

  TFAOT_INLINE void make_results(Place place, Int tile, const Room& room) const {
    const Int channels = call_.out_channels;
    const Steps step = steps_of(window_.out, channels);
    const Int at = place.image * step.image + place.row * step.row + place.column * step.column;
    const Int rows = smaller(results_of(kRows), window_.out[row_] - place.row);
    const Int columns = smaller(results_of(kColumns), window_.out[column_] - place.column);
    const Int sum_step = sum_step_;
    along_channels(channels, [&](Int j, Int count) TFAOT_ALWAYS {
      const Element* from = room.sums + tile * channels + j;
      Floats lines[kColumns][kRows];
      TFAOT_EACH (r, kRows) {
        Floats line[kColumns];
        TFAOT_FOR (int c = 0; c < kColumns; ++c, go_on(from, sum_step))
          line[c] = load_some(from, count);
        transform_sums(line);
        for (int c = 0; c < results_of(kColumns); ++c) lines[c][r] = line[c];
      }
      const Floats bias = more_.bias == nullptr ? Floats{} : load_some(more_.bias + j, count);
      Int to = at + j;
      for (int c = 0; c < results_of(kColumns); ++c, go_on(to, step.column)) {
        if (c >= columns) return;
        transform_sums(lines[c]);
        Int below = to;
        for (int r = 0; r < results_of(kRows); ++r, go_on(below, step.row)) {
          if (r < rows) put(below, lines[c][r] + bias, count);
        }
      }
    });
    if (kRows == 1) return activate({out_ + at, step.column, columns, channels, more_.function});
    activate({out_ + at, step.row, rows, columns * channels, more_.function});
  }

  TFAOT_INLINE void put(Int at, Floats result, Int count) const {
    if (more_.addends != nullptr) result += load_some(more_.addends + at, count);
    store_some(out_ + at, rectified<Element>(result, rectifier_), count);
  }

  const WinogradCall& winograd_;
  const ConvolutionCall& call_;
  const Window& window_;
  int row_, column_;  // the dimensions of a tile's rows and columns
  const Element* image_;
  const Element* filter_;
  Element* out_;
  EpilogueOperands more_;
  Int number_step_, sum_step_;
  Rectifier rectifier_;
};

template <int kInputs>
void convolve(const WinogradCall& call, void* out, const void** in) {
  const Window& w = call.convolution.window;
  Element* const scratch = result(out, 1);
  if (w.size[1] == 1 || w.size[2] == 1) {
    return Convolution<1, kInputs>(call, out, in).compute(scratch);
  }
  Convolution<kInputs, kInputs>(call, out, in).compute(scratch);
}

}  // namespace

extern "C" void TFAOT_KERNEL(winograd_convolution)(void* out, const void** in) {
  const auto& call = call_of<WinogradCall>(in);
  if (call.results == 2) return convolve<4>(call, out, in);
  convolve<6>(call, out, in);
}
