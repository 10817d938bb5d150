// SPDX-License-Identifier: Apache-2.0
// The first elements of as many rows as a vector has lanes, each row in a lane: no step depends on
// values, and none goes across lanes.
#pragma once

#include "places/keys.h"
#include "simd/transpose.h"

// Vectors of integers of 32 bits have a smaller and a larger one.
#define TFAOT_HAS_LANE_ROWS (TFAOT_IS_F32 && TFAOT_VECTOR_BYTES >= 32)
#if TFAOT_HAS_LANE_ROWS

namespace {

using tfaot::kernels::kMostFirstTogether;

#if TFAOT_VECTOR_BYTES == 64
using Lanes = __mmask16;
TFAOT_INLINE Lanes is_before(Keys a, Keys b) {
  return _mm512_cmplt_epi32_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
}
TFAOT_INLINE Keys either(Lanes lanes, Keys a, Keys b) {
  return reinterpret_cast<Keys>(
      _mm512_mask_mov_epi32(reinterpret_cast<__m512i>(b), lanes, reinterpret_cast<__m512i>(a)));
}
TFAOT_INLINE Keys first_of(Keys a, Keys b) {
  return reinterpret_cast<Keys>(
      _mm512_maskz_min_epi32(0xFFFF, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
TFAOT_INLINE Keys last_of(Keys a, Keys b) {
  return reinterpret_cast<Keys>(
      _mm512_maskz_max_epi32(0xFFFF, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#else
using Lanes = Keys;
TFAOT_INLINE Lanes is_before(Keys a, Keys b) { return a < b; }
TFAOT_INLINE Keys either(Lanes lanes, Keys a, Keys b) { return lanes ? a : b; }
TFAOT_INLINE Keys first_of(Keys a, Keys b) {
  return reinterpret_cast<Keys>(
      _mm256_min_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
TFAOT_INLINE Keys last_of(Keys a, Keys b) {
  return reinterpret_cast<Keys>(
      _mm256_max_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
#endif

class FirstInLanes {
 public:
  explicit FirstInLanes(const TopKCall& call) : call_(call) {}

  void find(const Element* x) {
    if ((call_.order & tfaot::kernels::kTopKTotalOrder) != 0) {
      find_in<true>(x);
    } else {
      find_in<false>(x);
    }
  }
  // Of the i-th of them.
  Key place(Int row, Int i) const { return places_[i][row]; }

 private:
  template <bool kIsTotal>
  void find_in(const Element* x) {
    const Key flip = flip_of(call_.order);
    for (Int j = 0; j < call_.size; j += kQuad) {
      const Int from = smaller(j, call_.size - kQuad);  // the last ones may begin earlier
      alignas(TFAOT_VECTOR_BYTES) Element columns[kQuad * kKeyLanes];
      transpose_quads(columns, kKeyLanes, x + from, kKeyLanes, call_.size);
      for (Int i = j - from; i < kQuad; ++i) {
        meet(key_of<kIsTotal, Keys>(load(columns + i * kKeyLanes), flip), from + i);
      }
    }
  }

  // Keys are in order. The new one goes before the larger ones, which move on.
  TFAOT_INLINE void meet(Keys key, Int place) {
    const Keys own = Keys{} + static_cast<Key>(place);
    const Int kept = smaller(place, call_.count);
    Keys last_key = key, last_place = own;
    Lanes is_placed = {};
    for (Int i = 0; i < kept; ++i) {
      const Keys old_key = keys_[i], old_place = places_[i];
      const Lanes is_larger = is_before(key, old_key);
      keys_[i] = first_of(old_key, i == 0 ? key : last_of(key, last_key));
      places_[i] = either(is_placed, last_place, either(is_larger, own, old_place));
      is_placed = is_larger;
      last_key = old_key;
      last_place = old_place;
    }
    if (place >= call_.count) return;
    keys_[place] = kept == 0 ? key : last_of(key, last_key);
    places_[place] = either(is_placed, last_place, own);
  }

  const TopKCall& call_;
  Keys keys_[kMostFirstTogether];
  Keys places_[kMostFirstTogether];
};

}  // namespace

#endif
