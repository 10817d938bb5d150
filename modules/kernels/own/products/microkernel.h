// SPDX-License-Identifier: Apache-2.0
// The micro-kernel: MR rows by NV vectors of columns of a product, with sums in registers. One
// source for all levels, products and convolutions.
//
// The left side is indirect: each row has a base pointer, and its elements are `tap_count` runs of
// `run` elements, at offsets that all rows share. A plain product has one run, a convolution one
// per row of its window. The right side is read a vector at a time, from panels. One call computes
// a column of tiles, so that a tile can begin before the one before it has ended.
#pragma once

#include "products/gemm.h"

namespace {

// The order of a sum depends on the product alone, never on rows, tile, CPU level or thread: a row
// has the same bits in any batch (docs/reproducibility.md). Step k of a run of the depth is added
// to sum k mod kSums; the first sum begins with the bias. At the end sum s and sum s + kSums / 2
// are added, and so on. Two sums cost a tile nothing and halve the time that a row alone waits for
// the step before; a narrow product (gemm.h) has nothing else to compute meanwhile, so it has four.
constexpr int kWideSums = 2, kNarrowSums = 4;

// Joins the sums of a row and a vector: those from kFirst on, kStep apart.
template <int kFirst = 0, int kStep = 1, typename V, int N, int MR, int NV>
TFAOT_INLINE V join_sums(const V (&sums)[N][MR][NV], int r, int v) {
  if constexpr (kStep == N) {
    return sums[kFirst][r][v];
  } else {
    return join_sums<kFirst, 2 * kStep>(sums, r, v) +
           join_sums<kFirst + kStep, 2 * kStep>(sums, r, v);
  }
}

// Vector v of the columns of a right side in panels.
template <typename T>
TFAOT_INLINE const T* vector_at(const T* b, Int b_panel, Int v) {
  return b + v / kVectorsPerPanel * b_panel + v % kVectorsPerPanel * kLanes<T>;
}

// Four numbers in each quad of lanes.
TFAOT_INLINE Floats load_fours(const float* from) {
#if TFAOT_VECTOR_BYTES == 64
  Floats fours = _mm512_maskz_broadcast_f32x4(0xFFFF, _mm_loadu_ps(from));
#elif TFAOT_VECTOR_BYTES == 32
  Floats fours = _mm256_setr_m128(_mm_loadu_ps(from), _mm_loadu_ps(from));
#else
  Floats fours = load(from);
#endif
  keep(fours);  // else the compiler loads each number alone
  return fours;
}

// Lane kLane of each quad, in all its lanes.
template <int kLane>
struct LaneOfQuad {
  static constexpr int at(int l) { return l / 4 * 4 + kLane; }
};

// Calls add(step, its number in all lanes) for four steps of a row alone. Loads are its bottleneck,
// so one load takes all four numbers.
template <typename Add>
TFAOT_INLINE void each_of_four(const float* a, const Add& add) {
  const Floats fours = load_fours(a);
  for_each<4>([&](auto step) TFAOT_ALWAYS { add(step, shuffle<LaneOfQuad<step>>(fours, fours)); });
}

// One step of the depth.
template <typename T, int MR, int NV>
TFAOT_INLINE void multiply_step(Vec<T> (&sums)[MR][NV], const T* const (&a)[MR], Int k, const T* b,
                                Int b_panel) {
  Vec<T> right[NV];
  TFAOT_EACH (v, NV) {
    right[v] = load(vector_at(b, b_panel, v));
    if constexpr (MR > 1) keep(right[v]);
  }
  TFAOT_EACH (r, MR) {
    TFAOT_EACH (v, NV) sums[r][v] = multiply_add(right[v], a[r][k], sums[r][v]);
  }
}

// Tiles prefetch their right side so many steps further on, so that reading it from a slower cache
// and computing happen at the same time.
constexpr Int kStepsAhead = 32;

// True if a right side of this many bytes is worth prefetching: its parts do not stay in the
// first-level cache, and it fits into the third.
TFAOT_INLINE bool is_prefetched(Int bytes) {
  constexpr Int kLeast = 128 << 10, kMost = 8 << 20;
  return bytes >= kLeast && bytes <= kMost;
}

// Prefetches the cache lines of NV vectors of the right side.
template <typename T, int NV>
TFAOT_INLINE void prefetch(const T* from, Int b_panel) {
  TFAOT_FOR (int v = 0; v < NV; v += kVectorsPerPanel) {
    __builtin_prefetch(from + v / kVectorsPerPanel * b_panel);
  }
}

template <typename T>
struct Tiles {
  Int count;
  const T* const* rows;
  const Int* taps;
  Int tap_count, run, a_step;
  const T* b;
  Int b_step;          // elements from one depth to the next
  Int b_panel;         // elements from one panel to the next
  const T* start;      // first values of the sums of every row: bias or zeros
  const T* row_start;  // used instead, a first value for each row; null: none
  T* c;
  Int c_row;
  Int last;  // columns of the last vector
  Rectifier rectifier;
  Int ahead;  // steps that tight tiles and a row alone prefetch further on; 0: nothing
};
static_assert(sizeof(Tiles<float>) <= 128, "larger ones are cleared and copied in slow ways");

// The limit of tiles: as many sums as the registers hold, with room for the factors.
constexpr int kMaxSums = TFAOT_TILE_SUMS;
// Few registers hold one sum of each result at a time. Then a tile goes through the depth twice,
// for the even steps and for the odd ones: it reads no cache line of a panel twice.
constexpr int kMostPasses = TFAOT_VECTOR_REGISTERS == 16 ? 2 : 1;

constexpr int passes_of(int results, int sums) { return results * sums > kMaxSums ? 2 : 1; }

// Computes the rows from `first` on. kPlain: a_step is 1 and the right side lies in panels. Then
// the loop has fewer numbers to keep, and the compiler room for all vectors.
template <typename T, int MR, int NV, int kSums, bool kPlain>
TFAOT_INLINE void multiply_tile(const Tiles<T>& t, Int first) {
  constexpr int kPasses = passes_of(MR * NV, kSums), kHeld = kSums / kPasses;
  const Int last = t.last;
  const bool whole = last == kLanes<T>;  // full masks are slow too
  Vec<T> sums[kHeld][MR][NV] = {};
  TFAOT_EACH (v, NV) {
    const T* const start = t.start + v * kLanes<T>;
    sums[0][0][v] = v < NV - 1 || whole ? load(start) : load_first(start, last);
    TFAOT_FOR (int r = 1; r < MR; ++r) sums[0][r][v] = sums[0][0][v];
  }
  if (t.row_start != nullptr) {
    TFAOT_EACH (i, MR * NV) {
      sums[0][i / NV][i % NV] = Vec<T>{} + t.row_start[first + i / NV];
    }
  }
  const T* a[MR];
  TFAOT_EACH (r, MR) a[r] = t.rows[first + r];
  const Int a_step = kPlain ? 1 : t.a_step, b_step = kPlain ? kPanelColumns<T> : t.b_step,
            b_panel = t.b_panel;
  const Int a_pass = kPasses * a_step, b_pass = kPasses * b_step;

  Vec<T> earlier[MR][NV];   // the results of the pass before
  asm("" : "=m"(earlier));  // the compiler does not see that they are set before they are read
  TFAOT_ROLLED_FOR (int pass = 0; pass < kPasses; ++pass) {
    if constexpr (kPasses > 1) asm("" : "+r"(pass));  // else the compiler makes two loops of it
    const T* tap_b = t.b + pass * b_step;
    for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
      const T* b = tap_b;
      Int k = *tap + pass * a_step, left = (t.run + kPasses - 1 - pass) / kPasses;
      if constexpr (kPlain) {
        if (MR > 2 && __builtin_expect(t.ahead != 0, 0)) {
          const Int ahead = t.ahead * b_step;
          for (; left >= kHeld; left -= kHeld) {
            TFAOT_EACH (s, kHeld) {
              prefetch<T, NV>(b + ahead, b_panel);
              multiply_step(sums[s], a, k, b, b_panel);
              k += a_pass;
              b += b_pass;
            }
          }
        }
      }
      if constexpr (kPlain && MR == 1 && sizeof(T) == sizeof(float)) {
        static_assert(kPasses == 1);
        const auto multiply_fours = [&](auto is_ahead) TFAOT_ALWAYS {
          for (; left >= 4; left -= 4, k += 4, b += 4 * b_step) {
            each_of_four(a[0] + k, [&](int step, Floats of) TFAOT_ALWAYS {
              if constexpr (is_ahead) prefetch<T, NV>(b + (t.ahead + step) * b_step, b_panel);
              TFAOT_EACH (v, NV) {
                Floats& sum = sums[step % kHeld][0][v];
                sum = multiply_add(load(vector_at(b + step * b_step, b_panel, v)), of, sum);
              }
            });
          }
        };
        if (NV == kVectorsPerPanel && t.ahead != 0) multiply_fours(Number<true>());
        multiply_fours(Number<false>());
      }
      for (; left >= kHeld; left -= kHeld) {
        TFAOT_EACH (s, kHeld) {
          multiply_step(sums[s], a, k, b, b_panel);
          k += a_pass;
          b += b_pass;
        }
      }
      TFAOT_EACH (s, kHeld - 1) {
        if (left <= s) break;
        multiply_step(sums[s], a, k, b, b_panel);
        k += a_pass;
        b += b_pass;
      }
      tap_b += t.run * b_step;
    }
    TFAOT_EACH (i, MR * NV) {
      Vec<T>& sum = sums[0][i / NV][i % NV];
      sum = join_sums(sums, i / NV, i % NV);
      if constexpr (kPasses == 2) {
        if (pass == 0) {
          earlier[i / NV][i % NV] = sum;
          TFAOT_EACH (s, kHeld) sums[s][i / NV][i % NV] = Vec<T>{};
        } else {
          sum = earlier[i / NV][i % NV] + sum;
        }
      }
    }
  }

  const Int c_row = t.c_row;
  if (t.rectifier != Rectifier::kNone) {
    TFAOT_EACH (i, MR * NV) sums[0][i / NV][i % NV] = relu<T>(sums[0][i / NV][i % NV]);
    if (t.rectifier == Rectifier::kRelu6) {
      T six = 6;
      asm volatile("" : "+m"(six));  // else it has a register in all tiles, and a sum may have none
      TFAOT_EACH (i, MR * NV) {
        sums[0][i / NV][i % NV] = smaller_of<T>(Vec<T>{} + six, sums[0][i / NV][i % NV]);
      }
    }
  }
  T* const c = t.c + first * c_row;
  T* to = c;
  TFAOT_FOR (int r = 0; r < MR; ++r, to += c_row) {
    TFAOT_EACH (v, NV - 1) store(to + v * kLanes<T>, sums[0][r][v]);
  }
  to = c + (NV - 1) * kLanes<T>;
  if (whole) {
    TFAOT_FOR (int r = 0; r < MR; ++r, to += c_row) store(to, sums[0][r][NV - 1]);
  } else if constexpr (TFAOT_HAS_MASKS) {
    TFAOT_FOR (int r = 0; r < MR; ++r, to += c_row) store_first(to, sums[0][r][NV - 1], last);
  } else {
    T ends[MR][kLanes<T>];
    TFAOT_EACH (r, MR) store(ends[r], sums[0][r][NV - 1]);
    TFAOT_ROLLED_FOR (int r = 0; r < MR; ++r, to += c_row) copy_elements(to, ends[r], last);
  }
}

// Not inlined: a tile's loop needs all registers.
template <typename T, int MR, int NV, int kSums, bool kPlain>
__attribute__((noinline)) void multiply_tiles_of(const Tiles<T>& t) {
  for (Int i = 0; i < t.count; ++i) {
    multiply_tile<T, MR, NV, kSums, kPlain>(t, i * MR);
  }
}

constexpr int kTightSums = 16;  // fewer leave enough room
// Others are seldom worth the code.
template <typename T>
constexpr bool kHasTightTiles = sizeof(T) == 4 && (TFAOT_VECTOR_BYTES > 16 || kMostPasses == 1);
template <typename T, int MR, int NV, int kSums>
void multiply_tiles(const Tiles<T>& t) {
  constexpr bool kIsTight = kHasTightTiles<T> && MR * NV * kSums >= kTightSums;
  if (kIsTight && t.a_step == 1 && t.b_step == kPanelColumns<T>) {
    return multiply_tiles_of<T, MR, NV, kSums, kIsTight>(t);
  }
  multiply_tiles_of<T, MR, NV, kSums, false>(t);
}

// More than four vectors of columns would be read from too many panels at once.
constexpr int kMaxRows = TFAOT_TILE_ROWS;
constexpr int kMaxVectors = 4;
// Vectors of the results of a tile.
constexpr int kMaxTile = kMaxSums / kWideSums * kMostPasses;

// Of `rows` rows. In a pass, registers hold a number of a row and a vector of each column beside
// the sums: where they are few, three rows by four vectors would not fit.
constexpr int max_vectors(int rows) {
  const int most = kMostPasses > 1 ? (TFAOT_VECTOR_REGISTERS - 1) / (rows + 1) : kMaxTile / rows;
  return most < kMaxVectors ? most : kMaxVectors;
}
// Of tiles of narrow products.
template <typename T>
constexpr int kNarrowVectors = static_cast<int>(smaller(2,
                                                        ceil_div(kMostNarrowColumns, kLanes<T>)));
template <typename T>
constexpr int kNarrowRows = (kMaxSums / kNarrowSums) * kMostPasses / kNarrowVectors<T>;

// Rows of the largest tile.
template <typename T>
TFAOT_INLINE int most_rows(bool narrow) {
  return narrow ? kNarrowRows<T> : kMaxRows;
}

// The function for tiles of MR rows by NV vectors; null: next_vectors() never gives that many.
template <typename T>
using MultiplyTiles = void (*)(const Tiles<T>&);
template <typename T, int kSums, int MR, int NV>
constexpr MultiplyTiles<T> tiles_of() {
  constexpr bool kFits = kSums == kNarrowSums ? MR <= kNarrowRows<T> && NV <= kNarrowVectors<T>
                                              : NV <= max_vectors(MR);
  if constexpr (kFits) return &multiply_tiles<T, MR, NV, kSums>;
  return nullptr;
}
template <typename T, int... kSize>
TFAOT_INLINE void multiply_sized(int rows, int vectors, bool is_narrow, const Tiles<T>& t,
                                 std::integer_sequence<int, kSize...> /*sizes*/) {
  static constexpr MultiplyTiles<T> kTiles[] = {
      tiles_of<T, kWideSums, kSize / kMaxVectors + 1, kSize % kMaxVectors + 1>()...,
      tiles_of<T, kNarrowSums, kSize / kMaxVectors + 1, kSize % kMaxVectors + 1>()...};
  kTiles[(is_narrow ? kMaxRows * kMaxVectors : 0) + (rows - 1) * kMaxVectors + vectors - 1](t);
}

// REQUIRES: 1 <= rows <= kMaxRows; vectors comes from next_vectors() for these rows.
template <typename T>
TFAOT_INLINE void multiply(int rows, int vectors, bool is_narrow, const Tiles<T>& t) {
  multiply_sized(rows, vectors, is_narrow, t,
                 std::make_integer_sequence<int, kMaxRows * kMaxVectors>());
}

// Vectors of the largest tile of these rows.
template <typename T>
constexpr int most_vectors(int rows, bool narrow) {
  const int most = narrow ? kNarrowVectors<T> : max_vectors(rows);
  return most == 3 && kVectorsPerPanel == 4 ? 2 : most;
}
// Vectors of the next tile, as even as the registers allow. A tile that begins in a panel ends in
// it, too.
template <typename T>
TFAOT_INLINE int next_vectors(int rows, bool narrow, Int left) {
  const int most = most_vectors<T>(rows, narrow);
  if (left <= most) return static_cast<int>(left);
  if (most < kVectorsPerPanel) return most;
  const Int even = ceil_div(left, ceil_div(left, most));
  return static_cast<int>(larger(kVectorsPerPanel, even - even % kVectorsPerPanel));
}

}  // namespace
