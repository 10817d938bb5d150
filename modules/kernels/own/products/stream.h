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

// left[i]: number i of `fours`, in all lanes.
TFAOT_INLINE void spread_all(Vec<float> (&left)[kSpread], Vec<float> fours) {
  left[0] = spread<0>(fours);
  left[1] = spread<1>(fours);
  left[2] = spread<2>(fours);
  left[3] = spread<3>(fours);
}

// Adds the steps k to k + kSpread of the depth to sums[first] and the following.
template <int MR, int NV, int N>
TFAOT_INLINE void multiply_spread(Vec<float> (&sums)[N][MR][NV], int first,
                                  const float* const (&a)[MR], Int k, const float* b, Int b_panel) {
  Vec<float> left[MR][kSpread];
  TFAOT_EACH (r, MR) spread_all(left[r], load_fours(a[r] + k));
  TFAOT_FOR (int i = 0; i < kSpread; ++i, b += kPanelColumns<float>) {
    TFAOT_EACH (v, NV) {
      const Vec<float> right =
          load(b + v / kVectorsPerPanel * b_panel + v % kVectorsPerPanel * kLanes<float>);
      TFAOT_EACH (r, MR) sums[(first + i) % N][r][v] += right * left[r][i];
    }
  }
}
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
  const auto columns_of = [&](int v) TFAOT_ALWAYS {
    return kPart ? smaller(kLanes<T>, s.columns - column - v * kLanes<T>) : kLanes<T>;
  };
  Vec<T> sums[kSums][MR][kVectors] = {};
  if (s.bias != nullptr) {
    TFAOT_EACH (v, kVectors) {
      if (kPart && columns_of(v) <= 0) break;
      const Vec<T> bias = load_part<kPart>(s.bias + column + v * kLanes<T>, columns_of(v));
      TFAOT_EACH (r, MR) sums[0][r][v] = bias;
    }
  }
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
    if (kPart && columns_of(v) <= 0) return;
    TFAOT_EACH (r, MR) {
      store_part<kPart>(s.c + r * s.c_row + column + v * kLanes<T>,
                        rectified<T>(join_sums(sums, r, v), s.rectifier), columns_of(v));
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
  // Of narrow vectors, three panels at a time are slower than two.
  constexpr int kFit = TFAOT_TILE_SUMS / (MR * kVectorsPerPanel);
  constexpr int kMost = kFit == 3 && TFAOT_VECTOR_BYTES < 64 ? 2 : kFit;
  const Int whole = s.columns - s.columns % kPanelColumns<float>;
  Int column = 0;
  if constexpr (kMost > 2) column = stream_columns<float, MR, smaller(kMost, 4)>(s, column, whole);
  if constexpr (kMost > 1) column = stream_columns<float, MR, 2>(s, column, whole);
  column = stream_columns<float, MR, 1>(s, column, whole);
  if (column < s.columns) stream_panels<float, MR, 1, true>(s, column);
}

// REQUIRES: 2 <= rows <= kFewRows
template <int MR = kFewRows>
inline void multiply_few_rows(Int rows, const Stream<float>& s) {
  if constexpr (MR > 2) {
    if (rows != MR) return multiply_few_rows<MR - 1>(rows, s);
  }
  multiply_together<MR>(s);
}

#if TFAOT_IS_F32

// ---- A row of float32 alone, by the panels of a matrix or by narrow weights.

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
constexpr int kRowSums = sums_per_element(1);
using RowSums = Vec<float>[kRowSums][1][1];

// Weights that do not stay in the first-level cache arrive fastest with two panels together, and
// with so many vectors of the row in an iteration that an instruction reads from another page each
// time. Else the hardware prefetcher foresees the wrong lines at the end of each panel.
constexpr int kRowPanels = 2;
constexpr int kRowVectors = 4;

// The input.
template <int NP>
struct RowInput {
  TFAOT_INLINE RowInput(const float* from, Int size) : x(from), depth(size) {}

  const float* x;
  Int depth;
  Vec<float> last[NP];  // the last vectors: just stored ones are slow to load
  Int last_at;          // the element at which the very last one begins
};

// As load_first() and store_first(), but four or eight numbers by plain instructions, between which
// the processor forwards stores to loads.
TFAOT_INLINE Vec<float> load_few(const float* from, Int count) {
  if (count == 4) return _mm512_maskz_broadcast_f32x4(0x000F, _mm_loadu_ps(from));
  if (count == 8) {
    return Vec<float>(_mm512_maskz_broadcast_f64x4(0x0F, __m256d(_mm256_loadu_ps(from))));
  }
  return load_first(from, count);
}

TFAOT_INLINE void store_few(float* to, Vec<float> v, Int count) {
  if (count == 4) return _mm_storeu_ps(to, __builtin_shufflevector(v, v, 0, 1, 2, 3));
  if (count == 8)
    return _mm256_storeu_ps(to, __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7));
  store_first(to, v, count);
}

// The input in memory.
template <int NP>
TFAOT_INLINE RowInput<NP> row_input(const float* x, Int depth) {
  RowInput<NP> in(x, depth);
  in.last_at = (depth - 1) / kRowWidth * kRowWidth;
  TFAOT_EACH (p, NP) {
    const Int at = larger(0, in.last_at - (NP - 1 - p) * kRowWidth);
    in.last[p] = load_few(x + at, smaller(depth - at, kRowWidth));
  }
  return in;
}

// Keeps the last vectors of `made`, which begins at `column`.
template <int MADE, int NP>
TFAOT_INLINE void keep_results(RowInput<NP>& out, Int column, const Vec<float> (&made)[MADE]) {
  out.last_at = column + (MADE - 1) * kRowWidth;
  if constexpr (MADE < NP) out.last[0] = out.last[NP - 1];
  TFAOT_EACH (p, MADE) out.last[NP - MADE + p] = made[p];
}

// Steps of the depth: numbers of the row, four at a time, by panels.

// Adds one step of the depth. Weights are read exactly in memory order, which the hardware
// prefetcher foresees; the compiler would change the order. Prefetching many lines at once would
// take as long as it saves.
template <bool kFetch>
TFAOT_INLINE void add_step(Vec<float>& sum, Vec<float> left, const float* b) {
  using Anywhere __attribute__((vector_size(64), aligned(4), may_alias)) = float;
  const auto& right = *reinterpret_cast<const Anywhere*>(b);
  if constexpr (kFetch) fetch_ahead<1>(b);
  asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(left), "m"(right));
}

// Addresses of the current step in NP panels.
template <int NP>
using PanelSteps = const float* [NP];

template <int NP>
TFAOT_INLINE void go_further(PanelSteps<NP>& b, Int elements) {
  TFAOT_EACH (p, NP) b[p] += elements;
}

template <int QUARTERS>
TFAOT_INLINE Vec<float> permute_quarters(Vec<float> x) {
  return _mm512_maskz_shuffle_f32x4(0xFFFF, x, x, QUARTERS);
}

// Adds four steps of the depth, of a quarter of x, by each of NP panels, `at` elements further.
template <int QUARTER, bool kFetch, int NP>
TFAOT_INLINE void add_quarter(RowSums (&sums)[NP], Vec<float> x, const PanelSteps<NP>& b,
                              Int at = 0) {
  constexpr int kFirst = QUARTER * kSpread % kRowSums;
  Vec<float> left[kSpread];
  spread_all(left, permute_quarters<QUARTER * 0x55>(x));
  TFAOT_EACH (i, kSpread) {
    TFAOT_EACH (p, NP) {
      add_step<kFetch>(sums[p][kFirst + i][0][0], left[i], b[p] + at + i * kRowWidth);
    }
  }
}

// Adds the steps of the first `count` numbers of x, which are fewer than a vector has.
template <bool kFetch, int NP>
TFAOT_INLINE void add_part(RowSums (&sums)[NP], Vec<float> x, PanelSteps<NP>& b, Int count) {
  TFAOT_ROLLED_FOR (; count >= kSpread; count -= kSpread, go_further<NP>(b, kSpread * kRowWidth)) {
    add_quarter<0, kFetch>(sums, x, b);
    x = permute_quarters<0x39>(x);  // the next quarter first
  }
  x = permute_quarters<0>(x);
  TFAOT_ROLLED_FOR (; count > 0; --count, go_further<NP>(b, kRowWidth)) {
    TFAOT_EACH (p, NP) add_step<kFetch>(sums[p][1][0][0], spread<0>(x), b[p]);
    x = _mm512_maskz_permute_ps(0xFFFF, x, 0x39);  // the next
  }
}

// Takes the vector of the row from k on.
template <int NP>
TFAOT_INLINE Vec<float> take_vector(const RowInput<NP>& in, Int k) {
  Vec<float> x = in.last[NP - 1];
  if (__builtin_expect(k != in.last_at, 1)) {
    x = NP > 1 && k == in.last_at - kRowWidth ? in.last[0] : load(in.x + k);
  }
  keep(x);  // else the compiler loads each quarter alone
  return x;
}

// Adds the products with NP panels, and returns where the next one begins. An iteration takes
// VECTORS of the row. The last vector goes through the same code: prefetching works best if an
// instruction's addresses are equally far apart. kFetch: panels are prefetched.
template <bool kFetch, int VECTORS, int NP, int KEPT>
TFAOT_INLINE const float* add_panels(RowSums (&sums)[NP], const RowInput<KEPT>& in,
                                     const float* b) {
  constexpr Int kQuarter = kSpread * kRowWidth;
  const Int part = in.depth % kRowWidth;
  const Int whole = in.depth - part;
  PanelSteps<NP> at;
  TFAOT_EACH (p, NP) {
    at[p] = b + p * in.depth * kRowWidth;
    asm("" : "+r"(at[p]));  // else the compiler keeps many addresses
  }
  const auto add_vector = [&](Int k) TFAOT_ALWAYS {
    const Vec<float> x = take_vector(in, k);
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
  if (part != 0) add_part<kFetch>(sums, take_vector(in, whole), at, part);
  return at[NP - 1];
}

// Multiplies with NP panels, from `column` on. Returns where the next one begins.
template <bool kFetch, int VECTORS, int NP, int KEPT>
TFAOT_INLINE const float* multiply_panels(const RowInput<KEPT>& in, const RowProduct& p,
                                          const float* b, Int column, RowInput<KEPT>& out) {
  const auto count = [&](int panel) TFAOT_ALWAYS {
    return panel < NP - 1 ? kRowWidth : smaller(p.columns - column - panel * kRowWidth, kRowWidth);
  };
  RowSums sums[NP] = {};
  if (p.bias != nullptr) {
    TFAOT_EACH (i, NP) sums[i][0][0][0] = load_first(p.bias + column + i * kRowWidth, count(i));
  }
  b = add_panels<kFetch, VECTORS>(sums, in, b);
  Vec<float> made[NP];
  TFAOT_EACH (i, NP) {
    made[i] = rectified<float>(join_sums(sums[i], 0, 0), p.rectifier);
    store_some(p.c + column + i * kRowWidth, made[i], count(i));
  }
  keep_results(out, column, made);
  return b;
}

// Returns the results as the input of the next product. NP panels at a time share the shuffles of
// the row. Inlined: a call for each layer of a chain would take as long as a small layer.
template <bool kFetch, int VECTORS, int NP>
TFAOT_INLINE RowInput<NP> multiply_by_panels(const RowInput<NP>& in, const RowProduct& p) {
  RowInput<NP> out(p.c, p.columns);
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
TFAOT_INLINE Vec<float> narrow_sums(const RowInput<NP>& in, const RowProduct& p) {
  static_assert(WIDTH == 4 || WIDTH == 8, "half of a panel, or a quarter");
  constexpr int kSums = 4;
  const __m512i lanes = narrow_lanes<WIDTH>();
  const __m512i further = _mm512_set1_epi32(kNarrowSteps<WIDTH>);
  Vec<float> sums[kSums] = {};
  if (p.bias != nullptr) sums[0] = load_first(p.bias, p.columns);
  const float* b = p.b;
  const Int part = in.depth % kRowWidth;
  const Int whole = in.depth - part;
  TFAOT_ROLLED_FOR (Int k = 0; k < whole; k += kRowWidth, b += WIDTH * kRowWidth) {
    const Vec<float> x = take_vector(in, k);
    __m512i at = lanes;
    TFAOT_FOR (int i = 0; i < WIDTH; ++i, at = _mm512_add_epi32(at, further)) {
      sums[i % kSums] += load(b + i * kRowWidth) * _mm512_maskz_permutexvar_ps(0xFFFF, at, x);
    }
  }
  if (part != 0) {
    // Numbers after the row might turn the weights' padding with zeros into NaN.
    const Vec<float> x =
        _mm512_maskz_mov_ps(static_cast<__mmask16>((1U << part) - 1), take_vector(in, whole));
    __m512i at = lanes;
    TFAOT_ROLLED_FOR (Int k = 0; k < part; k += kNarrowSteps<WIDTH>, b += kRowWidth) {
      sums[1] += load(b) * _mm512_maskz_permutexvar_ps(0xFFFF, at, x);
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
TFAOT_INLINE RowInput<NP> multiply_narrow(const RowInput<NP>& in, const RowProduct& p) {
  RowInput<NP> out(p.c, p.columns);
  const Vec<float> sums = p.columns <= 4 ? narrow_sums<4>(in, p) : narrow_sums<8>(in, p);
  const Vec<float> made[] = {rectified<float>(sums, p.rectifier)};
  store_few(p.c, made[0], p.columns);
  keep_results(out, 0, made);
  return out;
}

#else

// The input.
template <int NP>
struct RowInput {
  const float* x;
  Int depth;
};
template <int NP>
TFAOT_INLINE RowInput<NP> row_input(const float* x, Int depth) {
  return {x, depth};
}

// Returns the results as the input of the next product. Inlined: a call for each layer of a chain
// would take as long as a small layer.
template <bool kFetch, int VECTORS>
TFAOT_INLINE RowInput<1> multiply_by_panels(const RowInput<1>& in, const RowProduct& p) {
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
TFAOT_INLINE RowInput<NP> multiply_narrow(const RowInput<NP>& in, const RowProduct& p) {
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
