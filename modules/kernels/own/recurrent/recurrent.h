// SPDX-License-Identifier: Apache-2.0
// Recurrent layers (abi.h): all steps of some rows, then of the next rows, so that the state stays
// in the first caches. A tile is a few rows by one block of the state's columns, with all gates of
// them: its sums become the next state as soon as they are computed, and no tensor of gates is
// written. Slower: both directions together (their weights do not fit into the L1 cache), a tile's
// gates between the products of the next, prefetching the next weights.
//
// Products are added in the order of microkernel.h, in any tile: two sums for the input, from zero
// and then added to the bias, as if a product of its own had made x; then two for the state, of
// which the first begins with that.
//
// A Cell has
//   kGates    vectors of weights to a block (per vector of the state's columns)
//   kSums     sums; the first kInputs of them begin with a column of the step's products
//   kPanels   how many panels of the state's columns a block has
//   sum_of()  the sum that a gate's products with the state (or with the input) belong to
//   kMemory   true if it has a second state
//   next()    the new state of the sums of a vector of columns
//   prepare() a part of that which is done for all rows first, into sums and memory; if kPrepares
#pragma once

#include "products/microkernel.h"
#include "simd/functions.h"

namespace {

// ---- Products: the vectors of weights of a block and the sums they belong to, and the sums of a
// tile.

constexpr Int kPanel = kPanelColumns<float>;

// The sums of a block of a row: [sum][column].
template <typename Cell>
constexpr Int kSumsOfRow = Cell::kSums* kPanel;

// True if a half block has half panels: a block of several panels has half of these.
template <typename Cell>
constexpr bool has_half_panels = Cell::kPanels == 1;

// True if a row alone takes two whole blocks at a time: where a panel is one vector.
constexpr bool kHasRowBlocks = kVectorsPerPanel == 1;

// A step's vectors, kWide of each panel, or one of each panel of kWide blocks. kPairs: two gates
// share a vector, as half panels do where a panel is one vector.
template <typename Cell, bool kHalf, int kWide = 1,
          bool kPairs = kHalf&& has_half_panels<Cell>&& kVectorsPerPanel == 1>
struct StepVectors {
  static constexpr bool kOfBlocks = kHasRowBlocks && kWide > 1;
  static constexpr int kPart = kHalf && !has_half_panels<Cell> ? 2 : 1;
  static constexpr Int kColumns = kHalf && has_half_panels<Cell> ? kPanel / 2 : kPanel;
  static constexpr int kWeights = Cell::kGates / kPart * kWide;
  static constexpr int kSums = Cell::kSums / kPart * kWide;
  static constexpr Int kElements = Cell::kGates / kPart * kColumns;  // of a step

  // The vector of sums that a vector of weights contributes to.
  template <bool kOfState>
  static TFAOT_INLINE constexpr int sum_of(int i) {
    return Cell::sum_of(i / kWide, kOfState) * kWide + i % kWide;
  }
  // next: the weights of the next block.
  template <bool kOfState>
  static TFAOT_INLINE Floats weights(const float* b, const float* next, int i) {
    const float* const of_wide = kOfBlocks && i % kWide > 0 ? next : b + i % kWide * kLanes<float>;
    return load(of_wide + i / kWide * kColumns);
  }
  // The product of weights(b, i) and `a`, added to its sum.
  template <bool kOfState, typename A>
  static TFAOT_INLINE void add(Floats* sums, int i, Floats right, A a) {
    Floats& sum = sums[sum_of<kOfState>(i)];
    sum = multiply_add(right, a, sum);
  }

  // A vector of sums of the values of(block, sum, column). Their columns begin at `first`.
  template <typename Of>
  static TFAOT_INLINE Floats sum(int i, Int first, const Of& of) {
    if constexpr (kOfBlocks) return of(i % kWide, i / kWide, first);
    return of(0, i / kWide, first + i % kWide * kLanes<float>);
  }
  // `to`: [block][sum][column]
  static TFAOT_INLINE void put(float* to, int i, Int first, Floats v) {
    store(to + i / kWide * kPanel + first +
              i % kWide * (kOfBlocks ? kSumsOfRow<Cell> : kLanes<float>),
          v);
  }
};

#if TFAOT_HAS_MASKS
// A gate without a partner is added to the half of its sum: the other half stays even if it is
// multiplied by an infinity.
template <typename Cell>
struct StepVectors<Cell, true, 1, true> {
  static constexpr bool kOfBlocks = false;
  static constexpr Int kColumns = kPanel / 2;
  static constexpr int kWeights = (Cell::kGates + 1) / 2;
  static constexpr int kSums = Cell::kSums / 2;
  static constexpr Int kElements = Cell::kGates * kColumns;

  template <bool kOfState>
  static TFAOT_INLINE constexpr int sum_of(int i) {
    return Cell::sum_of(2 * i, kOfState) / 2;
  }
  template <bool kOfState>
  static TFAOT_INLINE Floats weights(const float* b, const float* /*next*/, int i) {
    b += i * kPanel;
    const __mmask16 lanes = lanes_of<kOfState>(i);
    if (lanes == 0xFFFF) return load(b);
    return _mm512_maskz_loadu_ps(lanes, lanes == 0xFF00 ? b - kColumns : b);
  }
  template <bool kOfState, typename A>
  static TFAOT_INLINE void add(Floats* sums, int i, Floats right, A a) {
    Floats& sum = sums[sum_of<kOfState>(i)];
    const __mmask16 lanes = lanes_of<kOfState>(i);
    sum = lanes == 0xFFFF ? multiply_add(right, a, sum)
                          : _mm512_mask3_fmadd_ps(right, spread<Floats>(a), sum, lanes);
  }

  template <typename Of>
  static TFAOT_INLINE Floats sum(int i, Int first, const Of& of) {
    return __builtin_shufflevector(of(0, 2 * i, first), of(0, 2 * i + 1, first), 0, 1, 2, 3, 4, 5,
                                   6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  }
  // Values beyond the columns are never used.
  static TFAOT_INLINE void put(float* to, int i, Int /*first*/, Floats v) {
    store(to + 2 * i * kPanel, v);
    v = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
    store(to + (2 * i + 1) * kPanel, v);
  }

 private:
  template <bool kOfState>
  static TFAOT_INLINE constexpr __mmask16 lanes_of(int i) {
    if (2 * i + 1 < Cell::kGates) return 0xFFFF;
    return Cell::sum_of(2 * i, kOfState) % 2 == 0 ? 0x00FF : 0xFF00;
  }
};
#endif

// Rows of a tile, which leave registers for the factors. An lstm's has so many that even and odd
// steps have them in turn: with fewer rows, weights would be read too often.
template <typename Cell>
constexpr int kTileRows = static_cast<int>(kMaxSums / kWideSums / smaller(3, Cell::kGates));
// A row alone takes two vectors of each gate at a time, where a panel has as many: it reads whole
// lines of the cache, and every sum waits for the step before.
constexpr int wide_of(int rows, bool half_panels) {
  return rows == 1 && kVectorsPerPanel > (half_panels ? 2 : 1) ? 2 : 1;
}

// Rows of numbers, `row_step` apart.
struct RecurrentSide {
  const float* first;
  Int row_step, depth;
};

struct TileProducts {
  const float* bias;      // first values of the sums
  const float* added;     // columns that are added to the bias, of the first row; null: none
  Int added_columns;      // of each gate
  const Int* added_gate;  // the offset of each gate's
  RecurrentSide input, state;
  const float* weights;  // of the input, then of the state
  Int next_block;        // from a block's weights to those of the next
};

// The bias, and the products with the input if a product of its own made them; a sum that has none
// gets a zero, as from add_side().
template <typename Cell>
TFAOT_INLINE Floats start_of(const TileProducts& p, int row, int block, int sum, Int column) {
  const Floats bias = load(p.bias + block * kSumsOfRow<Cell> + sum * kPanel + column);
  if (p.added == nullptr) return bias;
  column += (block * Cell::kPanels + Cell::panel_of(sum)) * kPanel;
  if (sum >= Cell::kInputs) return bias + Floats{};
  const float* const x = p.added + row * p.input.row_step + p.added_gate[Cell::gate_of(sum)];
  const Int count = larger(0, smaller(kLanes<float>, p.added_columns - column));
  if (TFAOT_HAS_MASKS) return bias + load_first(x + column, count);
  return bias + load_some(x + column, count);
}

template <typename Vectors, bool kOfState, int MR, int NV>
TFAOT_INLINE void add_step_of_block(Floats (&sums)[MR][NV], const float* const (&a)[MR], Int k,
                                    const float* b, const float* next) {
  Floats right[Vectors::kWeights];
  TFAOT_EACH (i, Vectors::kWeights) {
    right[i] = Vectors::template weights<kOfState>(b, next, i);
    if constexpr (MR > 1) keep(right[i]);
  }
  TFAOT_EACH (r, MR) {
    TFAOT_EACH (i, Vectors::kWeights) {
      Vectors::template add<kOfState>(sums[r], i, right[i], a[r][k]);
    }
  }
}

// Adds the products of one side, of odd steps apart, to the sums. Where registers do not hold both,
// all even steps come first.
template <typename Vectors, bool kOfState, int MR, int NV>
TFAOT_INLINE void add_side(Floats (&sums)[MR][NV], const RecurrentSide& side, const float* b,
                           Int next_block) {
  constexpr Int kStep = Vectors::kElements;
  constexpr bool kTogether = kWideSums * MR * Vectors::kWeights <= kMaxSums;
  const float* rows[MR];
  TFAOT_EACH (r, MR) rows[r] = side.first + r * side.row_step;
  Floats odd[MR][NV] = {};
  const auto next_of = [&](const float* at) TFAOT_ALWAYS {
    if (Vectors::kOfBlocks) go_on(at, next_block);
    return at;
  };
  const auto add_step = [&](Floats(&to)[MR][NV], Int k, const float* from) TFAOT_ALWAYS {
    add_step_of_block<Vectors, kOfState>(to, rows, k, from, next_of(from));
  };
  if constexpr (kTogether) {
    Int k = 0;
    if constexpr (MR == 1) {
      for (; k + 4 <= side.depth; k += 4, b += 4 * kStep) {
        const float* const next = next_of(b);
        each_of_four(rows[0] + k, [&](int step, Floats left) TFAOT_ALWAYS {
          TFAOT_EACH (i, Vectors::kWeights) {
            const Floats right =
                Vectors::template weights<kOfState>(b + step * kStep, next + step * kStep, i);
            Vectors::template add<kOfState>(step % 2 == 0 ? sums[0] : odd[0], i, right, left);
          }
        });
      }
    }
    for (; k + 2 <= side.depth; k += 2, b += 2 * kStep) {
      add_step(sums, k, b);
      add_step(odd, k + 1, b + kStep);
    }
    if (k < side.depth) add_step(sums, k, b);
  } else {
    const float* odd_b = b + kStep;
    for (Int k = 0; k < side.depth; k += 2, b += 2 * kStep) add_step(sums, k, b);
    for (Int k = 1; k < side.depth; k += 2, odd_b += 2 * kStep) add_step(odd, k, odd_b);
  }
  TFAOT_EACH (i, MR * NV) sums[i / NV][i % NV] += odd[i / NV][i % NV];
}

// Adds the products to the sums of a tile of MR rows: they stay in registers.
template <typename Cell, bool kHalf, int MR, int kWide = wide_of(MR, kHalf&& has_half_panels<Cell>)>
__attribute__((noinline)) void add_products(float* tile, const TileProducts& products) {
  using Vectors = StepVectors<Cell, kHalf, kWide>;
  constexpr Int kStep = Vectors::kOfBlocks ? Vectors::kColumns : kWide * kLanes<float>;
  const Int next_block = products.next_block;
  for (Int first = 0; first < Vectors::kColumns; first += kStep) {
    Floats sums[MR][Vectors::kSums] = {};
    const float* b = products.weights + first;
    const auto start = [&](int r, int i) TFAOT_ALWAYS {
      return Vectors::sum(i, first, [&](int block, int sum, Int column) TFAOT_ALWAYS {
        return start_of<Cell>(products, r, block, sum, column);
      });
    };
    const bool has_input = products.input.depth != 0;
    if (has_input) {
      add_side<Vectors, false>(sums, products.input, b, next_block);
      b += products.input.depth * Vectors::kElements;
    }
    TFAOT_EACH (r, MR) {
      TFAOT_EACH (i, Vectors::kSums) {
        sums[r][i] = has_input ? sums[r][i] + start(r, i) : start(r, i);
      }
    }
    add_side<Vectors, true>(sums, products.state, b, next_block);
    TFAOT_EACH (r, MR) {
      TFAOT_EACH (i, Vectors::kSums) {
        Vectors::put(tile + r * kSumsOfRow<Cell>, i, first, sums[r][i]);
      }
    }
  }
}

// `which`: the number of rows, plus kTileRows for a half block. REQUIRES: rows <= kTileRows, and at
// least one.
template <typename Cell, int kWhich = 2 * kTileRows<Cell>>
TFAOT_INLINE void add_products_of(int which, float* tile, const TileProducts& products) {
  constexpr int kMost = kTileRows<Cell>;
  constexpr bool kHalf = kWhich > kMost;
  constexpr int kRows = kHalf ? kWhich - kMost : kWhich;
  if (which == kWhich) return add_products<Cell, kHalf, kRows>(tile, products);
  if constexpr (kWhich > 1) add_products_of<Cell, kWhich - 1>(which, tile, products);
}

// ---- Gates and steps.

struct CellOfOnePanel {
  static constexpr int kPanels = 1;
  static constexpr bool kPrepares = true;
  static constexpr int gate_of(int sum) { return sum; }
  static constexpr int panel_of(int /*sum*/) { return 0; }
};

// The states of the rows of a tile, `width` elements apart.
struct RecurrentState {
  const float* before;
  float* after;
  float* memory;
  Int width;
};

// The place of a vector of columns of a row.
struct StatePlace {
  int row;
  const float* before;
  float* after;
  float* memory;
};

template <typename Cell>
constexpr Int kBlockColumns = Cell::kPanels* kPanel;

// Calls use(the first of its sums, column, place) for each vector of a tile's first kCount columns.
template <typename Cell, Int kCount, typename Use>
TFAOT_INLINE void each_vector(float* tile, const RecurrentState& state, Int block, int rows,
                              const Use& use) {
  constexpr int kPanels = kCount > kPanel ? kCount / kPanel : 1;
  constexpr Int kOfPanel = kCount / kPanels;
  for (int r = 0; r < rows; ++r, tile += kSumsOfRow<Cell>) {
    TFAOT_EACH (panel, kPanels) {
      TFAOT_FOR (Int j = 0; j < kOfPanel; j += kLanes<float>) {
        const Int column = block * kBlockColumns<Cell> + panel * kPanel + j;
        const Int at = r * state.width + column;
        use(tile + (Cell::kPanels > 1 ? panel * kPanel : 0) + j, column,
            StatePlace{r, state.before + at, state.after + at, state.memory + at});
      }
    }
  }
}

// Computes the next state and, with `out`, a row of the result, in two passes over the rows with
// few instructions each: a row's gates wait for each other, and the CPU looks ahead only so far.
// kHalf: the state has no columns in the block's second half.
template <typename Cell, bool kHalf>
TFAOT_INLINE void end_tile(const RecurrentCall& call, float* tile, const RecurrentState& state,
                           float* out, Int block, int rows) {
  constexpr Int kCount = kHalf ? kBlockColumns<Cell> / 2 : kBlockColumns<Cell>;
  if constexpr (Cell::kPrepares) {
    each_vector<Cell, kCount>(
        tile, state, block, rows,
        [](float* sums, Int /*column*/, const auto& at) { Cell::prepare(sums, at.memory); });
  }
  each_vector<Cell, kCount>(tile, state, block, rows,
                            [&](const float* sums, Int column, const auto& at) {
                              const Floats h = Cell::next(call, sums, at.before, at.memory);
                              store(at.after, h);
                              if (out == nullptr) return;
                              const Int count = smaller(kLanes<float>, call.hidden - column);
                              if (count > 0)
                                store_some(out + at.row * call.out_row + column, h, count);
                            });
}

template <typename Cell>
class Recurrence {
 public:
  Recurrence(const RecurrentCall& call, void* out, const void** in)
      : call_(call),
        x_(operand(in, 1)),
        weights_(operand(in, 2)),
        bias_(operand(in, 3)),
        first_(operand(in, 4)),
        first_memory_(Cell::kMemory ? operand(in, 5) : nullptr),
        result_(result(out, 0)),
        width_(recurrent_width(call, kPanel)),
        blocks_(ceil_div(call.hidden, kColumns)),
        whole_blocks_(blocks_ - (ends_in_half_block(call.hidden, kColumns) ? 1 : 0)),
        block_rows_(recurrent_block_rows(call, kPanel)),
        before_(result(out, 1)),
        after_(before_ + block_rows_ * width_),
        memory_(after_ + block_rows_ * width_) {}

  void run(Int rows) {
    for (Int row = 0; row < rows; row += block_rows_) {
      run_rows(row, smaller(block_rows_, rows - row));
    }
  }

 private:
  static constexpr Int kColumns = kBlockColumns<Cell>;

  void run_rows(Int first, Int rows) {
    for (Int r = 0; r < rows; ++r) {
      take_state(before_ + r * width_, first_ + (first + r) * call_.hidden);
      if (Cell::kMemory) {
        take_state(memory_ + r * width_, first_memory_ + (first + r) * call_.hidden);
      }
    }
    for (Int step = 0; step < call_.steps; ++step) {
      const float* const x = x_ + call_.x_start + step * call_.x_step + first * call_.x_row;
      float* out = nullptr;
      if (call_.keeps_all != 0 || step == call_.steps - 1) {
        const Int place = call_.keeps_all != 0 ? step * call_.out_step : 0;
        out = result_ + call_.out_start + place + first * call_.out_row;
      }
      run_tiles(x, out, rows, step % 2 != 0);
      float* const made = after_;
      after_ = before_;
      before_ = made;
    }
    if (Cell::kMemory && call_.memory_out >= 0) {
      for (Int r = 0; r < rows; ++r) {
        copy_elements(result_ + call_.memory_out + (first + r) * call_.hidden, memory_ + r * width_,
                      call_.hidden);
      }
    }
  }

  // Copies one row; zeros beyond its columns.
  void take_state(float* to, const float* from) const {
    __builtin_memset(to + width_ - 2 * kPanel, 0, 2 * kPanel * sizeof(float));
    copy_elements(to, from, call_.hidden);
  }

  // Steps go to and fro over the blocks: the weights used last are still in the caches. Two whole
  // blocks share each number of a row alone, and their gates do not wait for each other.
  void run_tiles(const float* x, float* out, Int rows, bool back) {
    const Int pairs = kHasRowBlocks && rows == 1 ? whole_blocks_ / 2 : 0, parts = blocks_ - pairs;
    for (Int i = 0; i < parts; ++i) {
      const Int part = back ? parts - 1 - i : i;
      if constexpr (kHasRowBlocks) {
        if (part < pairs) {
          run_tile<2>(x, out, 2 * part, 0, 1);
          continue;
        }
      }
      for (Int row = 0; row < rows;) {
        // As even as possible.
        const Int left = rows - row;
        const Int count = ceil_div(left, ceil_div(left, kTileRows<Cell>));
        run_tile<1>(x, out, pairs + part, row, static_cast<int>(count));
        row += count;
      }
    }
  }

  // kBlocks: as many whole blocks, of one row.
  template <int kBlocks>
  void run_tile(const float* x, float* out, Int block, Int row, int rows) {
    constexpr Int kSums = kSumsOfRow<Cell>;
    float tile[larger(kBlocks, kTileRows<Cell>) * kSums];
    x += row * call_.x_row;
    const Int next_block = (call_.features + call_.hidden) * Cell::kGates * kPanel;
    const Int first = block * kColumns;
    const TileProducts products = {bias_ + block * kSums,
                                   call_.features == 0 ? x + first : nullptr,
                                   call_.hidden - first,
                                   call_.x_gate,
                                   {x, call_.x_row, call_.features},
                                   {before_ + row * width_, width_, call_.hidden},
                                   weights_ + block * next_block,
                                   next_block};
    if constexpr (kBlocks > 1) {
      add_products<Cell, false, 1, kBlocks>(tile, products);
    } else {
      add_products_of<Cell>(rows + (block < whole_blocks_ ? 0 : kTileRows<Cell>), tile, products);
    }
    const Int place = row * width_;
    const RecurrentState state = {before_ + place, after_ + place, memory_ + place, width_};
    if (out != nullptr) out += row * call_.out_row;
    // Also for a whole block that is the only one.
    if (kBlocks == 1 && kColumns > kLanes<float> &&
        2 * (call_.hidden - block * kColumns) <= kColumns) {
      return end_tile<Cell, true>(call_, tile, state, out, block, rows);
    }
    TFAOT_EACH (i, kBlocks) {
      end_tile<Cell, false>(call_, tile + i * kSums, state, out, block + i, rows);
    }
  }

  const RecurrentCall& call_;
  const float* x_;
  const float* weights_;
  const float* bias_;
  const float* first_;
  const float* first_memory_;
  float* result_;
  Int width_;  // of the state as it is kept here
  Int blocks_, whole_blocks_, block_rows_;
  float* before_;
  float* after_;
  float* memory_;
};

// The kernel. in[] ends with the number of live rows, if there are some.
template <typename Cell>
TFAOT_INLINE void run_recurrent(void* out, const void** in) {
  const auto& call = call_of<RecurrentCall>(in);
  const void* const* const live = in + (Cell::kMemory ? 6 : 5);
  Recurrence<Cell>(call, out, in).run(live_rows(call.rows, call.live_rows, live));
}

}  // namespace
