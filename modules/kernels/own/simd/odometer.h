// SPDX-License-Identifier: Apache-2.0
// Where the elements of a tensor lie that nested loops go over.
#pragma once

#include "simd/vec.h"

namespace {

// Iterates over the indices of up to four loops, the last fastest, and keeps the offset.
template <int N>
class Odometer {
 public:
  Odometer(const Int (&count)[N], const Int (&step)[N]) : count_(count), step_(step) {}

  // Goes to the index that `done` others precede.
  void seek(Int done) {
    for (int d = N - 1; d >= 0; --d) {
      at_[d] = d == 0 ? done : done % count_[d];
      done /= count_[d];
      offset_ += at_[d] * step_[d];
    }
  }

  // use(i, offset) for the next `count` indices.
  template <typename Use>
  TFAOT_INLINE void next(Int count, const Use& use) {
    for (Int i = 0; i < count;) {
      const Int end = smaller(count, i + count_[N - 1] - at_[N - 1]);
      at_[N - 1] += end - i;
      for (; i < end; ++i, offset_ += step_[N - 1]) use(i, offset_);
      carry();
    }
  }

 private:
  void carry() {
    for (int d = N - 1; d >= 0 && at_[d] == count_[d]; --d) {
      offset_ -= count_[d] * step_[d];
      at_[d] = 0;
      if (d == 0) return;
      offset_ += step_[d - 1];
      ++at_[d - 1];
    }
  }

  const Int (&count_)[N];
  const Int (&step_)[N];
  Int at_[N] = {};
  Int offset_ = 0;
};

}  // namespace
