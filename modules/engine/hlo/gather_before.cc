// SPDX-License-Identifier: Apache-2.0
#include "hlo/gather_before.h"

#include <algorithm>

#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;

HloInstruction* gather_of_untransposed(HloInstruction& gather, const DimensionOrder& order,
                                       HloInstruction* x) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  if (numbers.operand_batching_dims_size() != 0) return nullptr;
  xla::GatherDimensionNumbers made;
  made.set_index_vector_dim(numbers.index_vector_dim());
  for (const std::int64_t d : numbers.start_index_map()) {
    made.add_start_index_map(entry(order, d));
  }
  Dimensions kept;  // dimensions of x that the result has
  Dimensions slice_sizes(order.size());
  for (std::int64_t d = 0; d < std::ssize(order); ++d) {
    entry(slice_sizes, entry(order, d)) = entry(gather.gather_slice_sizes(), d);
    if (std::ranges::count(numbers.collapsed_slice_dims(), d) > 0) {
      made.add_collapsed_slice_dims(entry(order, d));
    } else {
      kept.push_back(entry(order, d));
    }
  }
  std::ranges::sort(*made.mutable_collapsed_slice_dims());
  const DimensionOrder places = inverse_order(sorting_order(kept));
  const std::int64_t rank = gather.shape().rank();
  const std::int64_t batch_end = rank - std::ssize(kept);
  DimensionOrder result_order;
  Dimensions sizes(static_cast<std::size_t>(rank));
  std::int64_t next_batch = 0;
  std::int64_t next_kept = 0;
  for (std::int64_t d = 0; d < rank; ++d) {
    const bool is_batch = std::ranges::count(numbers.offset_dims(), d) == 0;
    result_order.push_back(is_batch ? next_batch++ : batch_end + entry(places, next_kept++));
    entry(sizes, result_order.back()) = entry(gather.shape().dimensions(), d);
    if (d >= batch_end) made.add_offset_dims(d);
  }
  return transpose(x->parent()->AddInstruction(HloInstruction::CreateGather(
                       shape_of(gather.shape().element_type(), sizes), x, gather.mutable_operand(1),
                       made, slice_sizes, false)),
                   result_order);
}

}  // namespace tfaot::toolkit::engine
