// SPDX-License-Identifier: Apache-2.0
// How the weights of a block of recurrent.h come in vectors, and which sums they belong to.
#pragma once

#include "products/tile.h"
#include "simd/kernel.h"
#include "simd/lanes.h"

namespace {

constexpr Int kPanel = kPanelColumns<float>;

// The sums of a block of a row: [sum][column].
template <typename Cell>
constexpr Int kRowSums = Cell::kSums* kPanel;

// Of a half block: a block of several panels has half of them.
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

  // Of a vector of weights.
  template <bool kOfState>
  static TFAOT_INLINE constexpr int sum_of(int i) {
    return Cell::sum_of(i / kWide, kOfState) * kWide + i % kWide;
  }
  template <bool kOfState>
  static TFAOT_INLINE Floats weights(const float* b, int i) {
    return load(b + i / kWide * kColumns + i % kWide * kLanes<float>);
  }

  // A vector of sums, of what of(sum, column) gives. Their columns begin at `first`.
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
// A gate without a partner lies in that half which its sum has.
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
  // What gets beyond the columns means nothing.
  static TFAOT_INLINE void put(float* to, int i, Int /*first*/, Floats v) {
    store(to + 2 * i * kPanel, v);
    v = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
    store(to + (2 * i + 1) * kPanel, v);
  }
};
#endif

}  // namespace
