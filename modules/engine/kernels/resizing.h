// SPDX-License-Identifier: Apache-2.0
// Calls of the kernel tfaot_resize (tfaot/kernels/abi.h). Used by one thread.
#pragma once

#include "hlo/hlo.h"
#include "hlo/neighbours.h"

namespace tfaot::toolkit::engine {

// A call before it is made. The operand's memory is [batch, rows, columns, channels].
struct Resizing {
  xla::HloInstruction* operand = nullptr;
  std::int64_t batch = 1;
  Neighbours rows, columns;
  std::int64_t channels = 1;
};

// How many elements dimensions [first, end) have together.
std::int64_t size_of_part(absl::Span<const std::int64_t> sizes, std::int64_t first,
                          std::int64_t end);

// Adds the call and returns its result of the dimensions `result`. If another call made the operand
// for this one alone, along a dimension beside it, both become one call. `model` is replaced by it.
xla::HloInstruction* add_resize(Resizing resizing, const Dimensions& result,
                                const xla::HloInstruction& model);

// `x` with one dimension resized.
xla::HloInstruction* resize_along(xla::HloInstruction* x, std::int64_t axis,
                                  const Neighbours& neighbours, const xla::HloInstruction& model);

}  // namespace tfaot::toolkit::engine
