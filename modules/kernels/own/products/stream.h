// SPDX-License-Identifier: Apache-2.0
// A few rows by panels. Such a product waits for its right side, so it reads that side in memory
// order. Reading many panels at a time would mean many streams, a power of two apart, whose lines
// compete for the same sets of the caches. Huge pages and prefetches of other kinds and distances
// gain nothing.
#pragma once

#include "products/microkernel.h"

namespace {

// Steps of a product of a few rows that load four numbers of a row at once and then spread each
// over a vector: a load for every multiply-add would take the place of a load of the right side.
#define TFAOT_CAN_SPREAD (TFAOT_IS_F32 && TFAOT_VECTOR_BYTES >= 32)
#if TFAOT_CAN_SPREAD
constexpr int kSpread = 4;

TFAOT_INLINE Vec<float> load_fours(const float* from) {
#if TFAOT_VECTOR_BYTES == 64
  Vec<float> fours = _mm512_maskz_broadcast_f32x4(0xFFFF, _mm_loadu_ps(from));
#else
  Vec<float> fours =
      _mm256_broadcast_ps(static_cast<const __m128*>(static_cast<const void*>(from)));
#endif
  asm("" : "+v"(fours));  // else the compiler loads each number alone
  return fours;
}

template <int I>
TFAOT_INLINE Vec<float> spread(Vec<float> fours) {
#if TFAOT_VECTOR_BYTES == 64
  return _mm512_maskz_permute_ps(0xFFFF, fours, I * 0x55);
#else
  return _mm256_permute_ps(fours, I * 0x55);
#endif
}

// left[i][r]: number i of fours[r], in all lanes.
template <int MR>
TFAOT_INLINE void spread_all(Vec<float> (&left)[kSpread][MR], const Vec<float> (&fours)[MR]) {
  TFAOT_EACH (r, MR) {
    left[0][r] = spread<0>(fours[r]);
    left[1][r] = spread<1>(fours[r]);
    left[2][r] = spread<2>(fours[r]);
    left[3][r] = spread<3>(fours[r]);
  }
}

// Adds four steps of the depth to sums[first] and the following. `fours`: the numbers of each row.
template <int MR, int NV, int N>
TFAOT_INLINE void multiply_fours(Vec<float> (&sums)[N][MR][NV], int first,
                                 const Vec<float> (&fours)[MR], const float* b, Int b_panel) {
  Vec<float> left[kSpread][MR];
  spread_all(left, fours);
  TFAOT_FOR (int i = 0; i < kSpread; ++i, b += kPanelColumns<float>) {
    TFAOT_EACH (v, NV) {
      const Vec<float> right =
          load(b + v / kVectorsPerPanel * b_panel + v % kVectorsPerPanel * kLanes<float>);
      TFAOT_EACH (r, MR) sums[(first + i) % N][r][v] += right * left[i][r];
    }
  }
}

// The same for the steps k to k + kSpread of rows in memory.
template <int MR, int NV, int N>
TFAOT_INLINE void multiply_spread(Vec<float> (&sums)[N][MR][NV], int first,
                                  const float* const (&a)[MR], Int k, const float* b, Int b_panel) {
  Vec<float> fours[MR];
  TFAOT_EACH (r, MR) fours[r] = load_fours(a[r] + k);
  multiply_fours(sums, first, fours, b, b_panel);
}
#if TFAOT_VECTOR_BYTES == 64
// Permutes the vectors of all rows alike.
template <int QUARTERS, int MR>
TFAOT_INLINE void permute_quarters(Vec<float> (&to)[MR], const Vec<float> (&x)[MR]) {
  TFAOT_EACH (r, MR) to[r] = _mm512_maskz_shuffle_f32x4(0xFFFF, x[r], x[r], QUARTERS);
}
#endif
#endif

template <typename T>
struct Stream {
  const T* a;
  Int a_row, depth;
  const T* b;
  const T* bias;  // null: none
  T* c;
  Int c_row, columns;
  Rectifier rectifier;
};

// The right side is prefetched this far ahead if it is too large to stay in the second-level cache
// with others, and small enough for the third.
constexpr Int kFetchAhead = 4096, kLeastFetched = 192 << 10, kMostFetched = 8 << 20;  // bytes

template <typename T>
bool is_fetched(const Stream<T>& s) {
  const Int bytes = s.depth * s.columns * Int{sizeof(T)};
  return bytes >= kLeastFetched && bytes <= kMostFetched;
}

// Prefetches for kSteps of a panel from b on.
template <int kSteps, typename T>
TFAOT_INLINE void fetch_ahead(const T* b) {
  constexpr Int kLine = 64;
  const auto* const from = static_cast<const char*>(static_cast<const void*>(b)) + kFetchAhead;
  TFAOT_FOR (Int i = 0; i < kSteps * kPanelBytes; i += kLine) {
    __builtin_prefetch(from + i);
  }
}

// Multiplies with NP panels, starting at `column`. kPart: they have columns beyond those of c.
template <typename T, int MR, int NP, bool kPart, bool kFetch = false>
TFAOT_INLINE void stream_panels(const Stream<T>& s, Int column) {
  constexpr int kVectors = NP * kVectorsPerPanel;
  constexpr int kSums = sums_per_element(MR * kVectors);
  const Int panel = s.depth * kPanelColumns<T>;
  const T* b = s.b + column * s.depth;
  const T* a[MR];
  TFAOT_EACH (r, MR) a[r] = s.a + r * s.a_row;
  Vec<T> sums[kSums][MR][kVectors] = {};
  Int k = 0;
#if TFAOT_CAN_SPREAD
  if constexpr (kSums % kSpread == 0) {
    for (; k + kSums <= s.depth; k += kSums) {
      if constexpr (kFetch) fetch_ahead<kSums>(b);
      TFAOT_FOR (int i = 0; i < kSums; i += kSpread) {
        multiply_spread<MR, kVectors>(sums, i, a, k + i, b + i * kPanelColumns<T>, panel);
      }
      b += kSums * kPanelColumns<T>;
    }
  }
#endif
  for (; k + kSums <= s.depth; k += kSums) {
    if constexpr (kFetch) fetch_ahead<kSums>(b);
    TFAOT_EACH (i, kSums) {
      multiply_step(sums[i], a, k + i, b + i * kPanelColumns<T>, panel);
    }
    b += kSums * kPanelColumns<T>;
  }
  for (; k < s.depth; ++k, b += kPanelColumns<T>) multiply_step(sums[0], a, k, b, panel);

  TFAOT_EACH (v, kVectors) {
    const Int at = column + v * kLanes<T>;
    const Int count = kPart ? smaller(kLanes<T>, s.columns - at) : kLanes<T>;
    if (kPart && count <= 0) return;
    const Vec<T> bias = s.bias == nullptr ? Vec<T>{} : load_part<kPart>(s.bias + at, count);
    TFAOT_EACH (r, MR) {
      const Vec<T> sum = join_sums(sums, r, v) + bias;
      store_part<kPart>(s.c + r * s.c_row + at, rectified<T>(sum, s.rectifier), count);
    }
  }
}

// Multiplies with NP panels at a time while whole ones last, and returns the next column.
template <typename T, int MR, int NP, bool kFetch = false>
TFAOT_INLINE Int stream_columns(const Stream<T>& s, Int column, Int end) {
  constexpr Int kColumns = NP * kPanelColumns<T>;
  for (; column + kColumns <= end; column += kColumns) {
    stream_panels<T, MR, NP, false, kFetch>(s, column);
  }
  return column;
}

// Multiplies with NP panels at a time, then with the others alone.
template <typename T, int MR, int NP>
TFAOT_INLINE void stream_all(const Stream<T>& s) {
  const Int whole = s.columns - s.columns % kPanelColumns<T>;
  Int column = 0;
  if constexpr (NP == 1) {
    if (is_fetched(s)) column = stream_columns<T, MR, 1, true>(s, column, whole);
  } else {
    column = stream_columns<T, MR, NP>(s, column, whole);
  }
  column = stream_columns<T, MR, 1>(s, column, whole);
  if (column < s.columns) stream_panels<T, MR, 1, true>(s, column);
}

template <typename T, int MR, int NP>
__attribute__((noinline)) void multiply_stream(const Stream<T>& s) {
  stream_all<T, MR, NP>(s);
}

// Plain products of a few rows, of small layers: less is set up than for gemm.cc, whose tiles are
// faster for many rows or large layers.

// Most rows that are multiplied together.
constexpr Int kFewRows = TFAOT_VECTOR_BYTES == 64 ? 8 : TFAOT_VECTOR_BYTES == 32 ? 6 : 3;

// Multiplies rows that share each load of the weights, several panels at a time.
template <int MR>
__attribute__((noinline)) void multiply_together(const Stream<float>& s) {
  constexpr int kMost = TFAOT_TILE_SUMS / (MR * kVectorsPerPanel);
  const Int whole = s.columns - s.columns % kPanelColumns<float>;
  Int column = 0;
  if constexpr (kMost > 2) column = stream_columns<float, MR, smaller(kMost, 4)>(s, column, whole);
  if constexpr (kMost > 1) column = stream_columns<float, MR, 2>(s, column, whole);
  column = stream_columns<float, MR, 1>(s, column, whole);
  if (column < s.columns) stream_panels<float, MR, 1, true>(s, column);
}

// REQUIRES: dense_chain.cc has no other code for this number of rows, which is at most kFewRows.
template <int MR = kFewRows>
inline void multiply_few_rows(Int rows, const Stream<float>& s) {
  constexpr int kFewest = TFAOT_VECTOR_BYTES == 64 ? 3 : 2;
  if constexpr (MR > kFewest) {
    if (rows != MR) return multiply_few_rows<MR - 1>(rows, s);
  }
  multiply_together<MR>(s);
}

#if TFAOT_IS_F32

// ---- A row of float32 alone, or two with AVX-512, by the panels of a matrix or by narrow weights.

// The right side, and the epilogue of the sums.
struct RowProduct {
  const float* b;
  const float* bias;  // null: none
  float* c;
  Int columns;
  Rectifier rectifier;
};

#if TFAOT_VECTOR_BYTES == 64

// One or two panels are read at a time, in memory order: their sums are added up while those of the
// next ones are computed.

constexpr Int kRowWidth = kPanelColumns<float>;
static_assert(kVectorsPerPanel == 1, "a panel's sums are one vector");
// Partial sums of MR rows.
template <int MR>
constexpr int kRowSums = sums_per_element(MR);
template <int MR>
using RowSums = Vec<float>[kRowSums<MR>][MR][1];
template <int MR, int NP>
using PanelResult = Vec<float>[NP][MR];

// Weights that do not stay in the first-level cache arrive fastest with two panels together, and
// with so many vectors of the row in an iteration that an instruction reads from another page each
// time. Else the hardware prefetcher foresees the wrong lines at the end of each panel.
constexpr int kRowPanels = 2;
constexpr int kRowVectors = 4;

// The input: rows, one after the other in memory.
template <int MR, int NP>
struct RowInput {
  TFAOT_INLINE RowInput(const float* from, Int size) : x(from), depth(size) {}

  const float* x;
  Int depth;
  Vec<float> last[NP][MR];  // the last vectors: just stored ones are slow to load
  Int last_at;              // the element at which the very last one begins in each row
};

// As load_first() and store_first(), but four or eight numbers by plain instructions, between which
// the processor forwards stores to loads.
TFAOT_INLINE Vec<float> load_few(const float* from, Int count) {
  if (count == 4) return _mm512_maskz_broadcast_f32x4(0x000F, _mm_loadu_ps(from));
  if (count == 8) return _mm512_maskz_broadcast_f32x8(0x00FF, _mm256_loadu_ps(from));
  return load_first(from, count);
}

TFAOT_INLINE void store_few(float* to, Vec<float> v, Int count) {
  if (count == 4) return _mm_storeu_ps(to, __builtin_shufflevector(v, v, 0, 1, 2, 3));
  if (count == 8)
    return _mm256_storeu_ps(to, __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7));
  store_first(to, v, count);
}

// The input in memory.
template <int MR, int NP>
TFAOT_INLINE RowInput<MR, NP> row_input(const float* x, Int depth) {
  RowInput<MR, NP> in(x, depth);
  in.last_at = (depth - 1) / kRowWidth * kRowWidth;
  TFAOT_EACH (p, NP) {
    const Int at = larger(0, in.last_at - (NP - 1 - p) * kRowWidth);
    TFAOT_EACH (r, MR) {
      in.last[p][r] = load_few(x + r * depth + at, smaller(depth - at, kRowWidth));
    }
  }
  return in;
}

// Keeps the last vectors of `made`, which begins at `column`.
template <int MADE, int MR, int NP>
TFAOT_INLINE void keep_results(RowInput<MR, NP>& out, Int column,
                               const PanelResult<MR, MADE>& made) {
  out.last_at = column + (MADE - 1) * kRowWidth;
  TFAOT_EACH (r, MR) {
    if constexpr (MADE < NP) out.last[0][r] = out.last[NP - 1][r];
    TFAOT_EACH (p, MADE) out.last[NP - MADE + p][r] = made[p][r];
  }
}

// Steps of the depth: numbers of rows, four at a time, by panels.

// Adds one step of the depth. Weights are read exactly in memory order, which the hardware
// prefetcher foresees; the compiler would change the order. Prefetching many lines at once would
// take as long as it saves.
template <bool kFetch, int MR>
TFAOT_INLINE void add_step(Vec<float> (&sums)[MR][1], const Vec<float> (&left)[MR],
                           const float* b) {
  using Anywhere __attribute__((vector_size(64), aligned(4), may_alias)) = float;
  const auto& right = *reinterpret_cast<const Anywhere*>(b);
  if constexpr (kFetch) fetch_ahead<1>(b);
  if constexpr (MR == 1) {
    asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sums[0][0]) : "v"(left[0]), "m"(right));
  } else {
    Vec<float> loaded;
    asm volatile("vmovups %1, %0" : "=v"(loaded) : "m"(right));
    TFAOT_EACH (r, MR) sums[r][0] += left[r] * loaded;
  }
}

// Addresses of the current step in NP panels.
template <int NP>
using PanelSteps = const float* [NP];

template <int NP>
TFAOT_INLINE void go_further(PanelSteps<NP>& b, Int elements) {
  TFAOT_EACH (p, NP) b[p] += elements;
}

// Adds four steps of the depth, of a quarter of x, by each of NP panels, `at` elements further.
template <int QUARTER, bool kFetch, int MR, int NP>
TFAOT_INLINE void add_quarter(RowSums<MR> (&sums)[NP], const Vec<float> (&x)[MR],
                              const PanelSteps<NP>& b, Int at = 0) {
  constexpr int kFirst = QUARTER * kSpread % kRowSums<MR>;
  Vec<float> fours[MR], left[kSpread][MR];
  permute_quarters<QUARTER * 0x55>(fours, x);
  spread_all(left, fours);
  TFAOT_EACH (i, kSpread) {
    TFAOT_EACH (p, NP) {
      add_step<kFetch>(sums[p][kFirst + i], left[i], b[p] + at + i * kRowWidth);
    }
  }
}

// Adds the steps of the first `count` numbers of x, which are fewer than a vector has.
template <bool kFetch, int MR, int NP>
TFAOT_INLINE void add_part(RowSums<MR> (&sums)[NP], Vec<float> (&x)[MR], PanelSteps<NP>& b,
                           Int count) {
  Vec<float> left[MR];
  TFAOT_ROLLED_FOR (; count >= kSpread; count -= kSpread, go_further<NP>(b, kSpread * kRowWidth)) {
    add_quarter<0, kFetch>(sums, x, b);
    permute_quarters<0x39>(x, x);  // the next quarter first
  }
  permute_quarters<0>(x, x);
  TFAOT_ROLLED_FOR (; count > 0; --count, go_further<NP>(b, kRowWidth)) {
    TFAOT_EACH (r, MR) left[r] = spread<0>(x[r]);
    TFAOT_EACH (p, NP) add_step<kFetch>(sums[p][1], left, b[p]);
    TFAOT_EACH (r, MR) x[r] = _mm512_maskz_permute_ps(0xFFFF, x[r], 0x39);  // the next
  }
}

// Takes the vectors of the rows from k on.
template <int MR, int NP>
TFAOT_INLINE void take_vectors(Vec<float> (&x)[MR], const RowInput<MR, NP>& in, Int k) {
  TFAOT_EACH (r, MR) x[r] = in.last[NP - 1][r];
  if (__builtin_expect(k != in.last_at, 1)) {
    if (NP > 1 && k == in.last_at - kRowWidth) {
      TFAOT_EACH (r, MR) x[r] = in.last[0][r];
    } else {
      TFAOT_EACH (r, MR) x[r] = load(in.x + r * in.depth + k);
    }
  }
  TFAOT_EACH (r, MR) keep(x[r]);  // else the compiler loads each quarter alone
}

// Adds the products with NP panels, and returns where the next one begins. An iteration takes
// VECTORS of a row. The last vector goes through the same code: prefetching works best if an
// instruction's addresses are equally far apart. kFetch: panels are prefetched.
template <bool kFetch, int VECTORS, int MR, int NP, int KEPT>
TFAOT_INLINE const float* add_panels(RowSums<MR> (&sums)[NP], const RowInput<MR, KEPT>& in,
                                     const float* b) {
  constexpr Int kQuarter = kSpread * kRowWidth;
  const Int part = in.depth % kRowWidth;
  const Int whole = in.depth - part;
  PanelSteps<NP> at;
  TFAOT_EACH (p, NP) {
    at[p] = b + p * in.depth * kRowWidth;
    asm("" : "+r"(at[p]));  // else the compiler keeps many addresses
  }
  Vec<float> x[MR];
  const auto add_vector = [&](Int k) TFAOT_ALWAYS {
    take_vectors(x, in, k);
    add_quarter<0, kFetch>(sums, x, at);
    add_quarter<1, kFetch>(sums, x, at, kQuarter);
    add_quarter<2, kFetch>(sums, x, at, 2 * kQuarter);
    add_quarter<3, kFetch>(sums, x, at, 3 * kQuarter);
    go_further<NP>(at, 4 * kQuarter);
  };
  Int k = 0;
  if constexpr (VECTORS > 1) {
    for (; k + VECTORS * kRowWidth <= whole; k += VECTORS * kRowWidth) {
      TFAOT_EACH (i, VECTORS) add_vector(k + i * kRowWidth);
    }
  }
  TFAOT_ROLLED_FOR (; k < whole; k += kRowWidth) add_vector(k);
  if (part != 0) {
    take_vectors(x, in, whole);
    add_part<kFetch>(sums, x, at, part);
  }
  return at[NP - 1];
}

// Multiplies with NP panels, from `column` on. Returns where the next one begins.
template <bool kFetch, int VECTORS, int NP, int MR, int KEPT>
TFAOT_INLINE const float* multiply_panels(const RowInput<MR, KEPT>& in, const RowProduct& p,
                                          const float* b, Int column, RowInput<MR, KEPT>& out) {
  const auto count = [&](int panel) TFAOT_ALWAYS {
    return panel < NP - 1 ? kRowWidth : smaller(p.columns - column - panel * kRowWidth, kRowWidth);
  };
  RowSums<MR> sums[NP] = {};
  if (p.bias != nullptr) {
    TFAOT_EACH (i, NP) {
      const Vec<float> bias = load_first(p.bias + column + i * kRowWidth, count(i));
      TFAOT_EACH (r, MR) sums[i][0][r][0] = bias;
    }
  }
  b = add_panels<kFetch, VECTORS, MR>(sums, in, b);
  PanelResult<MR, NP> made;
  TFAOT_EACH (i, NP) {
    TFAOT_EACH (r, MR) {
      made[i][r] = rectified<float>(join_sums(sums[i], r, 0), p.rectifier);
      store_some(p.c + r * p.columns + column + i * kRowWidth, made[i][r], count(i));
    }
  }
  keep_results(out, column, made);
  return b;
}

// Returns the results as the input of the next product. NP panels at a time share the shuffles of
// the row. Inlined: a call for each layer of a chain would take as long as a small layer.
template <bool kFetch, int VECTORS, int MR, int NP>
TFAOT_INLINE RowInput<MR, NP> multiply_by_panels(const RowInput<MR, NP>& in, const RowProduct& p) {
  RowInput<MR, NP> out(p.c, p.columns);
  const float* b = p.b;
  Int column = 0;
  if constexpr (NP > 1) {
    for (; column + (NP - 1) * kRowWidth < p.columns; column += NP * kRowWidth) {
      b = multiply_panels<kFetch, VECTORS, NP>(in, p, b, column, out);
    }
    if (column >= p.columns) return out;
  }
  do {
    b = multiply_panels<kFetch, VECTORS, 1>(in, p, b, column, out);
    column += kRowWidth;
  } while (column < p.columns);
  return out;
}

// Narrow weights (tfaot/kernels/abi.h): panels of so few columns would be mostly zeros.

// A vector of weights holds several steps of the depth, WIDTH columns of each.
template <int WIDTH>
constexpr Int kNarrowSteps = kRowWidth / WIDTH;

// The step that each lane belongs to.
template <int WIDTH>
TFAOT_INLINE __m512i narrow_lanes() {
  constexpr int kShift = WIDTH == 4 ? 2 : 3;
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_maskz_srli_epi32(0xFFFF, lane, kShift);
}

template <int WIDTH, int NP>
TFAOT_INLINE Vec<float> narrow_sums(const RowInput<1, NP>& in, const RowProduct& p) {
  static_assert(WIDTH == 4 || WIDTH == 8, "half of a panel, or a quarter");
  constexpr int kSums = 4;
  const __m512i lanes = narrow_lanes<WIDTH>();
  const __m512i further = _mm512_set1_epi32(kNarrowSteps<WIDTH>);
  Vec<float> sums[kSums] = {};
  if (p.bias != nullptr) sums[0] = load_first(p.bias, p.columns);
  const float* b = p.b;
  const Int part = in.depth % kRowWidth;
  const Int whole = in.depth - part;
  Vec<float> x[1];
  TFAOT_ROLLED_FOR (Int k = 0; k < whole; k += kRowWidth, b += WIDTH * kRowWidth) {
    take_vectors(x, in, k);
    __m512i at = lanes;
    TFAOT_FOR (int i = 0; i < WIDTH; ++i, at = _mm512_add_epi32(at, further)) {
      sums[i % kSums] += load(b + i * kRowWidth) * _mm512_maskz_permutexvar_ps(0xFFFF, at, x[0]);
    }
  }
  if (part != 0) {
    take_vectors(x, in, whole);
    // Numbers after the row might turn the weights' padding with zeros into NaN.
    x[0] = _mm512_maskz_mov_ps(static_cast<__mmask16>((1U << part) - 1), x[0]);
    __m512i at = lanes;
    TFAOT_ROLLED_FOR (Int k = 0; k < part; k += kNarrowSteps<WIDTH>, b += kRowWidth) {
      sums[1] += load(b) * _mm512_maskz_permutexvar_ps(0xFFFF, at, x[0]);
      at = _mm512_add_epi32(at, further);
    }
  }
  Vec<float> sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  sum += _mm512_maskz_shuffle_f32x4(0xFFFF, sum, sum, 0x4E);
  if constexpr (WIDTH == 4) sum += _mm512_maskz_shuffle_f32x4(0xFFFF, sum, sum, 0xB1);
  return sum;
}

// As multiply_by_panels().
template <int NP>
TFAOT_INLINE RowInput<1, NP> multiply_narrow(const RowInput<1, NP>& in, const RowProduct& p) {
  RowInput<1, NP> out(p.c, p.columns);
  const Vec<float> sums = p.columns <= 4 ? narrow_sums<4>(in, p) : narrow_sums<8>(in, p);
  const PanelResult<1, 1> made = {{rectified<float>(sums, p.rectifier)}};
  store_few(p.c, made[0][0], p.columns);
  keep_results(out, 0, made);
  return out;
}

#else

// The input: a row.
template <int MR, int NP>
struct RowInput {
  const float* x;
  Int depth;
};
template <int MR, int NP>
TFAOT_INLINE RowInput<MR, NP> row_input(const float* x, Int depth) {
  return {x, depth};
}

// Returns the results as the input of the next product. Inlined: a call for each layer of a chain
// would take as long as a small layer.
template <bool kFetch, int VECTORS>
TFAOT_INLINE RowInput<1, 1> multiply_by_panels(const RowInput<1, 1>& in, const RowProduct& p) {
  stream_all<float, 1, 1>({in.x, 0, in.depth, p.b, p.bias, p.c, 0, p.columns, p.rectifier});
  return {p.c, p.columns};
}

// Adds the products to sums[WIDTH].
template <int WIDTH>
TFAOT_INLINE void add_narrow(float* sums, const float* x, Int depth, const float* b) {
  constexpr int kLanesOfSum = WIDTH < kLanes<float> ? WIDTH : kLanes<float>;
  constexpr int kVectors = WIDTH / kLanesOfSum;
  constexpr int kSteps = 4;
  using Some __attribute__((vector_size(kLanesOfSum * sizeof(float)))) = float;
  Some all[kSteps][kVectors] = {};
  __builtin_memcpy(all[0], sums, sizeof all[0]);
  const auto step = [&](Int k, int sum) TFAOT_ALWAYS {
    Some right[kVectors];
    __builtin_memcpy(right, b + k * WIDTH, sizeof right);
    TFAOT_EACH (v, kVectors) all[sum][v] += right[v] * x[k];
  };
  Int k = 0;
  for (; k + kSteps <= depth; k += kSteps) {
    TFAOT_EACH (i, kSteps) step(k + i, i);
  }
  TFAOT_ROLLED_FOR (; k < depth; ++k) step(k, 1);
  TFAOT_EACH (v, kVectors) {
    all[0][v] = (all[0][v] + all[1][v]) + (all[2][v] + all[3][v]);
  }
  __builtin_memcpy(sums, all[0], sizeof all[0]);
}

// As multiply_by_panels().
template <int NP>
TFAOT_INLINE RowInput<1, NP> multiply_narrow(const RowInput<1, NP>& in, const RowProduct& p) {
  alignas(kPanelBytes) float sums[kMostNarrowColumns] = {};
  if (p.bias != nullptr) copy_elements(sums, p.bias, p.columns);
  if (p.columns <= 4) {
    add_narrow<4>(sums, in.x, in.depth, p.b);
  } else {
    add_narrow<8>(sums, in.x, in.depth, p.b);
  }
  TFAOT_FOR (Int at = 0; at < kMostNarrowColumns; at += kLanes<float>) {
    store(sums + at, rectified<float>(load(sums + at), p.rectifier));
  }
  copy_elements(p.c, sums, p.columns);
  return {p.c, p.columns};
}

#endif

#endif

}  // namespace
