// SPDX-License-Identifier: Apache-2.0
// The rows of its operand that a GatherPart (abi.h) takes.
#pragma once

#include "simd/kernel.h"

namespace {

// `place`, clamped to 0 to `last`.
template <typename Place>
TFAOT_INLINE Int between(Place place, Int last) {
  if constexpr (static_cast<Place>(0.5) == 0) {
    return smaller(larger(Int{place}, 0), last);
  } else {
    const auto limit = static_cast<Place>(last);
    const Place positive = place > 0 ? place : 0;  // 0 for a NaN
    return smaller(static_cast<Int>(positive < limit ? positive : limit), last);
  }
}

template <typename Place>
void find_starts(const GatherPart& part, const void* places, Int first, Int count, Int* starts) {
  const Place* place = static_cast<const Place*>(places) + part.place_at + first * part.place_step;
  const Int at = part.x_at, last = part.x_rows - 1, step = part.x_step;
  if (part.place_step == 1) {  // a loop over vectors
    for (Int i = 0; i < count; ++i) starts[i] = at + between(place[i], last) * step;
    return;
  }
  for (Int i = 0; i < count; ++i, place += part.place_step) {
    starts[i] = at + between(*place, last) * step;
  }
}

// Without an operand of places: in blocks of place_at rows, each row place_step times.
inline void find_repeated_starts(const GatherPart& part, Int first, Int count, Int* starts) {
  Int taken = first / part.place_step;
  Int again = first % part.place_step;  // times that row was taken before
  Int i = 0;
  while (i < count) {
    Int row = taken % part.place_at;
    Int start = taken / part.place_at / part.places * part.place_at + row;
    for (; row < part.place_at && i < count; ++row, ++start, ++taken, again = 0) {
      const Int end = smaller(i + part.place_step - again, count);
      for (; i < end; ++i) starts[i] = part.x_at + start * part.x_step;
    }
  }
}

// Finds where rows `first` to first + count begin in the operand.
inline void find_starts(const GatherPart& part, const void** in, Int first, Int count,
                        Int* starts) {
  if (part.place_type == kPlacesRepeated) {
    return find_repeated_starts(part, first, count, starts);
  }
  const void* const places = in[part.places];
  const auto find = part.place_type == kPlacesInt32     ? &find_starts<std::int32_t>
                    : part.place_type == kPlacesInt64   ? &find_starts<Int>
                    : part.place_type == kPlacesFloat32 ? &find_starts<float>
                    : part.place_type == kPlacesFloat64 ? &find_starts<double>
                                                        : nullptr;
  if (find != nullptr) return find(part, places, first, count, starts);
  for (Int i = 0; i < count; ++i) starts[i] = part.x_at + (first + i) * part.x_step;
}

}  // namespace
