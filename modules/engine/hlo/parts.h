// SPDX-License-Identifier: Apache-2.0
// Tensors as parts of larger ones, which broadcasts and reshapes spread them over. Used by one
// thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

struct Part {
  xla::HloInstruction* base;
  // By dimension: which dimension of the larger tensor it is; -1: of size 1, it is none.
  Dimensions of;

  static Part whole(xla::HloInstruction* value);
  Part with(xla::HloInstruction* other) const { return {other, of}; }  // of the same sizes
  friend bool operator==(const Part& a, const Part& b) { return a.base == b.base && a.of == b.of; }
};

// Without broadcasts, and without reshapes that only add or leave out dimensions of size 1.
Part stripped(Part part);

// In the sizes of the larger tensor.
xla::HloInstruction* spread_part(const Part& part, const Dimensions& sizes);

}  // namespace tfaot::toolkit::engine
