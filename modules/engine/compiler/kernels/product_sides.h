// SPDX-License-Identifier: Apache-2.0
// Where the elements of a product's operands lie in memory, seen through transposes and broadcasts
// before it: strides, which kernels take instead of a copy. Used by one thread.
#pragma once

#include <optional>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

constexpr std::int64_t kBroadcast = -1;  // in place of a dimension: every index is the same element

// One operand of a product. The lists name dimensions of `tensor` in the product's order.
struct Side {
  xla::HloInstruction* tensor = nullptr;
  Dimensions batch = {}, free = {}, depth = {};  // dimensions, or kBroadcast
  Dimensions batch_sizes = {}, free_sizes = {}, depth_sizes = {};
};

Side side_of(xla::HloInstruction* tensor, absl::Span<const std::int64_t> batch,
             absl::Span<const std::int64_t> depth);

// Before a reshape that only adds or leaves out dimensions of size 1: the operand's dimension of
// each of the result, kBroadcast for an added one. Nothing for other reshapes.
std::optional<Dimensions> before_reshape(const xla::HloInstruction& value);

// The same product, but with the operand of a transpose or broadcast.
Side look_through(Side side);
// Also with that of a reshape as before_reshape() takes, if there is a transpose before it. Its
// dimensions of size 1 may be in none of the lists then.
Side look_through_reshapes(Side side);

// The stride of a list of dimensions taken as one; nothing if they have no common stride.
std::optional<std::int64_t> stride_of(const Side& side, absl::Span<const std::int64_t> list,
                                      absl::Span<const std::int64_t> sizes);

struct Strides {
  std::int64_t batch, inner, free, depth;
};
// With the first `outer` dimensions of the batch on a level of their own; 0: there is one level.
std::optional<Strides> strides_of(const Side& side, std::size_t outer = 0);

// The order of the depth is free: both sides use the order of one side's memory.
void order_depth(Side& by, Side& other);

// The tensor written out as [batch, free, depth] or, with depth_first, [batch, depth, free]. If all
// matrices of a batch are the same, it stays one matrix.
Side written_out(const Side& side, bool depth_first);

// In a product without batch, leading free dimensions of one side may count as its batch: the other
// side's matrix is the same for all of them.
bool split_batch(Side& side, Side& other);

}  // namespace tfaot::toolkit::engine
