// SPDX-License-Identifier: Apache-2.0
// What Winograd's minimal filtering makes of a tile along one dimension (tfaot/kernels/winograd.h).
#pragma once

#include "simd/lanes.h"
#include "tfaot/kernels/winograd.h"

namespace {

using tfaot::kernels::kWinogradPoints;
using tfaot::kernels::kWinogradSize;

// Along the last two spatial dimensions: a tile's inputs, and the results made of them.
constexpr int results_of(int inputs) {
  return inputs == 1 ? 1 : inputs - static_cast<int>(kWinogradSize) + 1;
}

// Along one dimension, a tile's N inputs become as many numbers, in parts of one or two numbers
// that need few of the inputs.
template <int N>
constexpr int kParts = N == 6   ? 4
                       : N == 4 ? 3
                                : 1;
template <int N, int PART>
constexpr int kPartSize = PART == 0 || PART == kParts<N> - 1 ? 1 : 2;

// d(i): an input.
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
    made[0] = d(0) + (d(4) - 2.5F * d(2));
  } else if constexpr (PART == 3) {
    made[0] = d(5) + (d(1) - 2.5F * d(3));
  } else {
    constexpr float kPoint = PART == 1 ? a : b, kOther = PART == 1 ? 2.0F : 0.5F;
    const Floats even = d(4) - kOther * d(2), odd = kPoint * (d(3) - kOther * d(1));
    made[0] = even + odd;
    made[1] = even - odd;
  }
}

// use(PartOf<i>()) for each part.
template <int PART>
struct PartOf {
  static constexpr int kPart = PART;
};
template <int N, int PART = 0, typename Use>
TFAOT_INLINE void for_each_part(const Use& use) {
  if constexpr (PART < kParts<N>) {
    use(PartOf<PART>());
    for_each_part<N, PART + 1>(use);
  }
}

// All of them, in place.
template <int N>
TFAOT_INLINE void transform_inputs(Floats (&d)[N]) {
  Floats numbers[N];
  int at = 0;
  for_each_part<N>([&](auto part) __attribute__((always_inline)) {
    constexpr int kPart = decltype(part)::kPart;
    Floats made[kPartSize<N, kPart>];
    make_part<N, kPart>(
        [&](int i) __attribute__((always_inline)) { return d[i]; }, made);
    for (const Floats& number : made) numbers[at++] = number;
  });
  TFAOT_UNROLL
  for (int i = 0; i < N; ++i) d[i] = numbers[i];
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

}  // namespace
