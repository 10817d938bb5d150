// SPDX-License-Identifier: Apache-2.0
// The products of recurrent.h: the vectors of weights of a block and the sums they belong to, the
// sums of a tile, and those of several blocks with a row alone.
#pragma once

#include "products/microkernel.h"
#include "simd/lanes.h"

namespace {

constexpr Int kPanel = kPanelColumns<float>;

// The sums of a block of a row: [sum][column].
template <typename Cell>
constexpr Int kSumsOfRow = Cell::kSums* kPanel;

// True if a half block has half panels: a block of several panels has half of these.
template <typename Cell>
constexpr bool has_half_panels = Cell::kPanels == 1;

// A step's vectors, kWide of each panel. kPairs: two gates share a vector, as half panels do where
// a panel is one vector.
template <typename Cell, bool kHalf, int kWide = 1,
          bool kPairs = kHalf&& has_half_panels<Cell>&& kVectorsPerPanel == 1>
struct StepVectors {
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
  template <bool kOfState>
  static TFAOT_INLINE Floats weights(const float* b, int i) {
    return load(b + i / kWide * kColumns + i % kWide * kLanes<float>);
  }

  // A vector of sums of the values of(sum, column). Their columns begin at `first`.
  template <typename Of>
  static TFAOT_INLINE Floats sum(int i, Int first, const Of& of) {
    return of(i / kWide, first + i % kWide * kLanes<float>);
  }
  // `to`: [sum][column]
  static TFAOT_INLINE void put(float* to, int i, Int first, Floats v) {
    store(to + i / kWide * kPanel + first + i % kWide * kLanes<float>, v);
  }
};

#if TFAOT_HAS_MASKS
// A gate without a partner is in the half of its sum.
template <typename Cell>
struct StepVectors<Cell, true, 1, true> {
  static constexpr Int kColumns = kPanel / 2;
  static constexpr int kWeights = (Cell::kGates + 1) / 2;
  static constexpr int kSums = Cell::kSums / 2;
  static constexpr Int kElements = Cell::kGates * kColumns;

  template <bool kOfState>
  static TFAOT_INLINE constexpr int sum_of(int i) {
    return Cell::sum_of(2 * i, kOfState) / 2;
  }
  template <bool kOfState>
  static TFAOT_INLINE Floats weights(const float* b, int i) {
    b += i * kPanel;
    if (2 * i + 1 < Cell::kGates) return load(b);
    if (Cell::sum_of(2 * i, kOfState) % 2 == 0) return _mm512_maskz_loadu_ps(0x00FF, b);
    return _mm512_maskz_loadu_ps(0xFF00, b - kColumns);
  }

  template <typename Of>
  static TFAOT_INLINE Floats sum(int i, Int first, const Of& of) {
    return __builtin_shufflevector(of(2 * i, first), of(2 * i + 1, first), 0, 1, 2, 3, 4, 5, 6, 7,
                                   16, 17, 18, 19, 20, 21, 22, 23);
  }
  // Values beyond the columns are never used.
  static TFAOT_INLINE void put(float* to, int i, Int /*first*/, Floats v) {
    store(to + 2 * i * kPanel, v);
    v = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
    store(to + (2 * i + 1) * kPanel, v);
  }
};
#endif

// Rows of a tile, which leave registers for the factors.
constexpr int kTileRows = TFAOT_VECTOR_REGISTERS == 32 ? 6 : 2;
// True if a row alone takes several blocks at a time (RecurrentRow): where a panel is one vector.
constexpr bool kHasRowBlocks = kVectorsPerPanel == 1;
// A row alone takes two vectors of each gate at a time, where a panel has as many: every sum waits
// for the step before.
constexpr int wide_of(int rows, bool half_panels) {
  return rows == 1 && kVectorsPerPanel > (half_panels ? 2 : 1) ? 2 : 1;
}

// Rows of numbers, `row_step` apart.
struct RecurrentSide {
  const float* first;
  Int row_step, depth;
};

struct TileProducts {
  const float* bias;      // first values of the sums; null: the tile has them
  const float* added;     // columns that are added to the bias, of the first row; null: none
  const Int* added_gate;  // the offset of each gate's
  RecurrentSide input, state;
  const float* weights;  // of the input, then of the state
};

template <typename Cell>
TFAOT_INLINE Floats start_of(const TileProducts& p, int row, int sum, Int column) {
  const Floats bias = load(p.bias + sum * kPanel + column);
  if (p.added == nullptr || sum >= Cell::kInputs) return bias;
  const float* const x = p.added + row * p.input.row_step + p.added_gate[Cell::gate_of(sum)];
  return bias + load(x + Cell::panel_of(sum) * kPanel + column);
}

template <typename Vectors, bool kOfState, int MR, int NV>
TFAOT_INLINE void add_step_of_block(Floats (&sums)[MR][NV], const float* const (&a)[MR], Int k,
                                    const float* b) {
  Floats right[Vectors::kWeights];
  TFAOT_UNROLL
  for (int i = 0; i < Vectors::kWeights; ++i) {
    right[i] = Vectors::template weights<kOfState>(b, i);
  }
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    TFAOT_UNROLL
    for (int i = 0; i < Vectors::kWeights; ++i) {
      sums[r][Vectors::template sum_of<kOfState>(i)] += right[i] * a[r][k];
    }
  }
}

// Adds the products of one side; returns where its weights end.
template <typename Vectors, bool kOfState, int N, int MR, int NV>
TFAOT_INLINE const float* add_side(Floats (&sums)[N][MR][NV], const RecurrentSide& side,
                                   const float* b) {
  constexpr Int kStep = Vectors::kElements;
  const float* rows[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) rows[r] = side.first + r * side.row_step;
  Int k = 0;
  for (; k + N <= side.depth; k += N) {
    TFAOT_UNROLL
    for (int p = 0; p < N; ++p, b += kStep)
      add_step_of_block<Vectors, kOfState>(sums[p], rows, k + p, b);
  }
  if constexpr (N > 1) {
    for (; k < side.depth; ++k, b += kStep)
      add_step_of_block<Vectors, kOfState>(sums[0], rows, k, b);
  }
  return b;
}

// Computes the sums of a tile of MR rows, which stay in registers.
template <typename Cell, bool kHalf, int MR>
__attribute__((noinline)) void add_products(float* tile, const TileProducts& products) {
  constexpr int kWide = wide_of(MR, kHalf && has_half_panels<Cell>);
  using Vectors = StepVectors<Cell, kHalf, kWide>;
  constexpr int kParts = sums_per_element(MR * Vectors::kWeights);
  for (Int first = 0; first < Vectors::kColumns; first += kWide * kLanes<float>) {
    Floats sums[kParts][MR][Vectors::kSums] = {};
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int i = 0; i < Vectors::kSums; ++i) {
        const auto start = [&](int sum, Int column) __attribute__((always_inline)) {
          return products.bias == nullptr
                     ? load(tile + r * kSumsOfRow<Cell> + sum * kPanel + column)
                     : start_of<Cell>(products, r, sum, column);
        };
        sums[0][r][i] = Vectors::sum(i, first, start);
      }
    }
    const float* b = products.weights + first;
    if (products.input.depth != 0) b = add_side<Vectors, false>(sums, products.input, b);
    add_side<Vectors, true>(sums, products.state, b);
    TFAOT_UNROLL
    for (int half = kParts / 2; half > 0; half /= 2) {
      TFAOT_UNROLL
      for (int p = 0; p < half; ++p) {
        TFAOT_UNROLL
        for (int i = 0; i < MR * Vectors::kSums; ++i) {
          const int r = i / Vectors::kSums, s = i % Vectors::kSums;
          sums[p][r][s] += sums[p + half][r][s];
        }
      }
    }
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int i = 0; i < Vectors::kSums; ++i) {
        Vectors::put(tile + r * kSumsOfRow<Cell>, i, first, sums[0][r][i]);
      }
    }
  }
}

// `which`: the number of rows, plus kTileRows for a half block. REQUIRES: rows <= kTileRows, and at
// least one, or two if a row alone has its own products.
template <typename Cell, int kWhich = 2 * kTileRows>
TFAOT_INLINE void add_products_of(int which, float* tile, const TileProducts& products) {
  constexpr bool kHalf = kWhich > kTileRows;
  constexpr int kRows = kHalf ? kWhich - kTileRows : kWhich;
  constexpr bool kIsUsed = kRows > (kHasRowBlocks ? 1 : 0);
  if constexpr (kIsUsed) {
    if (which == kWhich) return add_products<Cell, kHalf, kRows>(tile, products);
  }
  if constexpr (kWhich > 1) add_products_of<Cell, kWhich - 1>(which, tile, products);
}

// The products of B blocks at a time with a row alone; with kHalf the last block is half.
template <typename Cell, int B, bool kHalf>
struct RowBlocks {
  using Whole = StepVectors<Cell, false>;
  using Half = StepVectors<Cell, true>;
  static constexpr int kWhole = kHalf ? B - 1 : B;
  static constexpr int kWeights = kWhole * Whole::kWeights + (kHalf ? Half::kWeights : 0);

  // Calls use(block, its vectors) for each.
  template <typename Use>
  static TFAOT_INLINE void each(const Use& use) {
    TFAOT_UNROLL
    for (int i = 0; i < kWhole; ++i) use(i, Whole());
    if constexpr (kHalf) use(kWhole, Half());
  }
  static constexpr Int elements_of(int block) {  // in a step
    return block < kWhole ? Whole::kElements : Half::kElements;
  }
};

// Adds the products of one side; `weights`: of each block. Each sum has N partial ones: few blocks
// would wait for the step before. A large state is read in iterations so long that an instruction
// reads weights of another page each time (row_panels.h).
template <typename Cell, bool kHalf, bool kOfState, int N, int B>
TFAOT_INLINE void add_row_side(Floats (&sums)[N][B][Cell::kSums], const RecurrentSide& side,
                               const float* const (&weights)[B], bool back) {
  using Blocks = RowBlocks<Cell, B, kHalf>;
  const Int whole = side.depth - side.depth % N;
  const Int first = back ? whole - N : 0, next = back ? -N : N;
  const float* a = side.first + first;
  const float* right[B];
  TFAOT_UNROLL
  for (int i = 0; i < B; ++i) right[i] = weights[i] + first * Blocks::elements_of(i);
  const auto add = [&](Floats(&to)[B][Cell::kSums], Int k) __attribute__((always_inline)) {
    Blocks::each([&](int block, auto vectors) __attribute__((always_inline)) {
      using Vectors = decltype(vectors);
      TFAOT_UNROLL
      for (int i = 0; i < Vectors::kWeights; ++i) {
        to[block][Vectors::template sum_of<kOfState>(i)] +=
            Vectors::template weights<kOfState>(right[block] + k * Vectors::kElements, i) * a[k];
      }
    });
  };
  const auto go_on = [&](Int steps) __attribute__((always_inline)) {
    a += steps;
    TFAOT_UNROLL
    for (int i = 0; i < B; ++i) {
      right[i] += steps * Blocks::elements_of(i);
      asm("" : "+r"(right[i]));  // else the compiler keeps a register for each vector
    }
  };
  Int left = whole;
  if constexpr (kOfState && B > 2) {
    constexpr int kTurn = Cell::kGates > 3 ? 16 : 32;
    constexpr Int kMostNear = 48;  // the weights of a smaller state stay in the first-level cache
    for (; side.depth > kMostNear && left >= kTurn; left -= kTurn) {
      TFAOT_UNROLL
      for (int i = 0; i < kTurn; ++i) {
        add(sums[i % N], i % N);
        if (i % N == N - 1) go_on(next);
      }
    }
  }
  for (; left > 0; left -= N) {
    TFAOT_UNROLL
    for (int p = 0; p < N; ++p) add(sums[p], p);
    go_on(next);
  }
  if constexpr (N > 1) {
    if (back) go_on(whole + N);
    for (left = side.depth - whole; left > 0; --left, go_on(1)) add(sums[0], 0);
  }
}

// Adds the products to the first values of the sums in tile[block][sum][column]. `weights`: of the
// first block; the next block's begin block_step later.
template <typename Cell, int B, bool kHalf>
TFAOT_INLINE void add_products_of_row(float* tile, const RecurrentSide& input,
                                      const RecurrentSide& state, const float* weights,
                                      Int block_step, bool back) {
  using Blocks = RowBlocks<Cell, B, kHalf>;
  // Counts one more for a half block: for three vectors, joining four sums each would take longer
  // than they save.
  constexpr int kParts = sums_per_element(Blocks::kWeights + (kHalf ? 1 : 0));
  Floats sums[kParts][B][Cell::kSums] = {};
  Blocks::each([&](int block, auto vectors) __attribute__((always_inline)) {
    const auto start = [&](int sum, Int column) __attribute__((always_inline)) {
      return load(tile + block * kSumsOfRow<Cell> + sum * kPanel + column);
    };
    TFAOT_UNROLL
    for (int i = 0; i < vectors.kSums; ++i) sums[0][block][i] = vectors.sum(i, 0, start);
  });
  const float* of_input[B];
  const float* of_state[B];
  TFAOT_UNROLL
  for (int i = 0; i < B; ++i) {
    of_input[i] = weights + i * block_step;
    of_state[i] = of_input[i] + input.depth * Blocks::elements_of(i);
  }
  if (input.depth != 0) add_row_side<Cell, kHalf, false>(sums, input, of_input, back);
  add_row_side<Cell, kHalf, true>(sums, state, of_state, back);
  Blocks::each([&](int block, auto vectors) __attribute__((always_inline)) {
    TFAOT_UNROLL
    for (int half = kParts / 2; half > 0; half /= 2) {
      TFAOT_UNROLL
      for (int i = 0; i < half * vectors.kSums; ++i) {
        const int part = i / vectors.kSums, sum = i % vectors.kSums;
        sums[part][block][sum] += sums[part + half][block][sum];
      }
    }
    TFAOT_UNROLL
    for (int i = 0; i < vectors.kSums; ++i) {
      vectors.put(tile + block * kSumsOfRow<Cell>, i, 0, sums[0][block][i]);
    }
  });
}

}  // namespace
