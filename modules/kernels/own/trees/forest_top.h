// SPDX-License-Identifier: Apache-2.0
// The first steps through the trees of a block, a tree in each lane of a vector (ForestTop of
// abi.h). The features' keys are in registers, where a permutation finds them. A step chooses among
// the nodes of its level by the masks of the steps before. So no lane reads memory of its own.
#pragma once

#include "simd/vec.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#define TFAOT_HAS_FOREST_TOPS 1
#else
#define TFAOT_HAS_FOREST_TOPS 0
#endif

#if TFAOT_HAS_FOREST_TOPS

namespace {

using tfaot::kernels::ForestTop;

constexpr int kTopLanes = static_cast<int>(tfaot::kernels::kForestBlockTrees);
constexpr __mmask16 kAllLanes = 0xFFFF;  // g++ 12 warns of the intrinsics without a mask

TFAOT_INLINE __mmask16 first_lanes(Int count) {
  return static_cast<__mmask16>((1U << larger(0, smaller(count, kTopLanes))) - 1);
}

// The keys of up to 16 features. `missing`: those that are NaN, for which it is the largest one.
TFAOT_INLINE __m512i keys_of_features(const float* x, __mmask16 lanes, __mmask16& missing) {
  const __m512 values = _mm512_maskz_loadu_ps(lanes, x);
  const __m512i bits = _mm512_castps_si512(values);
  const __m512i largest = _mm512_set1_epi32(0x7FFFFFFF);
  missing = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  const __m512i turned = _mm512_and_si512(_mm512_maskz_srai_epi32(kAllLanes, bits, 31), largest);
  return _mm512_mask_mov_epi32(_mm512_xor_si512(bits, turned), missing, largest);
}

// missing_first: the same with the smallest one for NaN; null: not wanted.
TFAOT_INLINE void make_keys_of_vectors(const float* x, Int features, std::int32_t* keys,
                                       std::int32_t* missing_first) {
  for (Int i = 0; i < features; i += kTopLanes) {
    const __mmask16 lanes = first_lanes(features - i);
    __mmask16 missing = 0;
    const __m512i some = keys_of_features(x + i, lanes, missing);
    _mm512_mask_storeu_epi32(keys + i, lanes, some);
    if (missing_first == nullptr) continue;
    const __m512i smallest = _mm512_set1_epi32(static_cast<int>(0x80000000U));
    _mm512_mask_storeu_epi32(missing_first + i, lanes,
                             _mm512_mask_mov_epi32(some, missing, smallest));
  }
}

// A row for the tops, with up to 16 * kVectors features.
template <int kVectors>
class TopRow {
 public:
  TFAOT_INLINE TopRow(const float* x, Int features) {
    TFAOT_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 lanes = first_lanes(features - v * kTopLanes);
      __mmask16 missing = 0;
      keys_[v] = keys_of_features(x + v * kTopLanes, lanes, missing);
      has_missing_ = has_missing_ || missing != 0;
    }
  }

  // Where in top.ends the row leaves the top, for each tree.
  TFAOT_INLINE void find(const ForestTop& top, std::uint32_t* ends) const {
    __mmask16 right[ForestTop::kSteps];
    right[0] = step<0>(top, right);
    right[1] = step<1>(top, right);
    right[2] = step<2>(top, right);
    right[3] = step<3>(top, right);
    __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    TFAOT_UNROLL
    for (int i = 0; i < ForestTop::kSteps; ++i) {
      const int skipped = kTopLanes << (ForestTop::kSteps - 1 - i);
      at = _mm512_mask_add_epi32(at, right[i], at, _mm512_set1_epi32(skipped));
    }
    _mm512_storeu_si512(ends, at);
  }

 private:
  static TFAOT_INLINE __m512i either(__mmask16 right, __m512i a, __m512i b) {
    return _mm512_mask_blend_epi32(right, a, b);
  }
  static TFAOT_INLINE __m128i either(__mmask16 right, __m128i a, __m128i b) {
    return _mm_mask_blend_epi8(right, a, b);
  }

  // What the nodes hold that kLevel steps lead to, from node `first` on.
  template <int kLevel, typename Of>
  static TFAOT_INLINE auto reached(const __mmask16* right, int first, const Of& of) {
    if constexpr (kLevel == 0) {
      return of(first);
    } else {
      const auto a = reached<kLevel - 1>(right + 1, first, of);
      return either(*right, a, reached<kLevel - 1>(right + 1, first + (1 << (kLevel - 1)), of));
    }
  }

  // Which lanes go on to the right end.
  template <int kLevel>
  TFAOT_INLINE __mmask16 step(const ForestTop& top, const __mmask16* right) const {
    constexpr int kFirst = (1 << kLevel) - 1;
    const __m512i limits = reached<kLevel>(
        right, kFirst, [&](int node) { return _mm512_loadu_si512(top.keys[node]); });
    const __m512i slots = _mm512_maskz_cvtepi8_epi32(
        kAllLanes, reached<kLevel>(right, kFirst, [&](int node) {
          return _mm_loadu_si128(reinterpret_cast<const __m128i*>(top.slots[node]));
        }));
    const __m512i keys = keys_at(slots);
    const __mmask16 larger = _mm512_cmpgt_epi32_mask(keys, limits);
    if (!has_missing_) return larger;
    const __mmask16 is_largest = _mm512_cmpeq_epi32_mask(keys, _mm512_set1_epi32(0x7FFFFFFF));
    return static_cast<__mmask16>(larger & ~(is_largest & _mm512_movepi32_mask(slots)));
  }

  TFAOT_INLINE __m512i keys_at(__m512i slots) const {
    const __m512i low = _mm512_permutex2var_epi32(keys_[0], slots, keys_[1]);
    if constexpr (kVectors == 2) return low;
    const __m512i high = _mm512_permutex2var_epi32(keys_[kVectors - 2], slots, keys_[kVectors - 1]);
    const __mmask16 is_high = _mm512_test_epi32_mask(slots, _mm512_set1_epi32(2 * kTopLanes));
    return _mm512_mask_mov_epi32(low, is_high, high);
  }

  __m512i keys_[kVectors];
  bool has_missing_ = false;
};

using TopEnds = std::uint32_t[kTopLanes];

// For one row and the tops of some blocks.
template <int kVectors>
__attribute__((noinline)) void find_ends(const ForestTop* tops, Int count, const float* x,
                                         Int features, TopEnds* ends) {
  const TopRow<kVectors> row(x, features);
  for (Int i = 0; i < count; ++i) row.find(tops[i], ends[i]);
}

}  // namespace

#endif
