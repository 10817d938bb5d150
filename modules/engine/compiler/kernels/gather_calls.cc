// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "compiler/hlo/build.h"
#include "compiler/hlo/dimension_order.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/hlo/weight_values.h"
#include "compiler/kernels/gathered_parts.h"
#include "tfaot/kernels/abi.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

std::int64_t place_in(absl::Span<const std::int64_t> values, std::int64_t value) {
  return std::ranges::find(values, value) - values.begin();
}

// One gather: its operand's dimensions are outer ones, taken whole, then some that are chosen, then
// inner ones, taken whole, which lie together in memory.
class GatheredRows {
 public:
  explicit GatheredRows(HloInstruction& gather)
      : gather_(gather),
        numbers_(gather.gather_dimension_numbers()),
        sizes_(dimensions_of(*gather.operand(0))),
        index_sizes_(dimensions_of(*gather.operand(1))),
        type_(gather.operand(1)->shape().element_type()) {
    inner_ = std::ssize(sizes_);
    while (inner_ > 0 && is_whole(inner_ - 1)) --inner_;
    if (numbers_.index_vector_dim() == std::ssize(index_sizes_)) index_sizes_.push_back(1);
    for (std::int64_t d = 0; d < std::ssize(index_sizes_); ++d) {
      if (d != numbers_.index_vector_dim()) batch_.push_back(d);
    }
  }

  bool is_of_rows() const {
    const xla::Shape& x = gather_.operand(0)->shape();
    if (!has_kernels(x.element_type()) || xla::ShapeUtil::IsZeroElementArray(gather_.shape()) ||
        (type_ != xla::S32 && type_ != xla::S64) || inner_ == 0 ||
        row_elements() < tuned().gather_fewest_elements ||
        xla::ShapeUtil::ElementsIn(x) > std::numeric_limits<std::int32_t>::max()) {
      return false;
    }
    for (std::int64_t d = 0; d < inner_; ++d) {
      if (!is_whole(d) && !is_chosen(d)) return false;
    }
    return true;
  }

  // REQUIRES: is_of_rows()
  HloInstruction* replacement() {
    Dimensions outer;  // dimensions of the operand
    Dimensions result_sizes;
    for (std::int64_t d = 0; d < inner_; ++d) {
      if (is_whole(d)) outer.push_back(d);
    }
    for (const std::int64_t d : outer) result_sizes.push_back(entry(sizes_, d));
    for (const std::int64_t d : batch_) result_sizes.push_back(entry(index_sizes_, d));
    const Dimensions place_sizes = result_sizes;
    for (std::int64_t d = inner_; d < std::ssize(sizes_); ++d) {
      result_sizes.push_back(entry(sizes_, d));
    }
    HloInstruction* copied = add_gather(
        {part_by_places(gather_.mutable_operand(0), places(outer, place_sizes), row_elements())},
        result_sizes, gather_);
    return transpose(copied, result_order(outer));
  }

 private:
  bool is_whole(std::int64_t d) const {
    return entry(gather_.gather_slice_sizes(), d) == entry(sizes_, d) && !is_left_out(d);
  }
  bool is_left_out(std::int64_t d) const {
    return place_in(numbers_.collapsed_slice_dims(), d) < numbers_.collapsed_slice_dims_size() ||
           place_in(numbers_.operand_batching_dims(), d) < numbers_.operand_batching_dims_size();
  }
  // One element, which the result has no dimension for.
  bool is_chosen(std::int64_t d) const {
    return entry(gather_.gather_slice_sizes(), d) == 1 && is_left_out(d);
  }
  std::int64_t row_elements() const {
    return std::accumulate(sizes_.begin() + inner_, sizes_.end(), std::int64_t{1},
                           std::multiplies<>());
  }

  HloInstruction* filled(std::int64_t number, const Dimensions& sizes) const {
    return broadcast(scalar_next_to(&gather_, type_, static_cast<double>(number)), sizes, {});
  }
  HloInstruction* counted(const Dimensions& sizes, std::int64_t dimension) const {
    return add_next_to(&gather_, HloInstruction::CreateIota(shape_of(type_, sizes), dimension));
  }

  // One coordinate of the indices, of the sizes of batch_.
  HloInstruction* coordinate(std::int64_t number) const {
    HloInstruction* const indices = reshape(gather_.mutable_operand(1), index_sizes_);
    Dimensions sizes;
    for (const std::int64_t d : batch_) sizes.push_back(entry(index_sizes_, d));
    return reshape(slice_along(indices, numbers_.index_vector_dim(), number, 1), sizes);
  }

  // The number of each row, of the sizes of the outer dimensions and then of batch_. The kernel
  // takes the nearest row there is, so that a coordinate alone may be anything.
  HloInstruction* places(const Dimensions& outer, const Dimensions& sizes) const {
    if (inner_ == 1 && place_in(numbers_.start_index_map(), 0) == 0 &&
        numbers_.start_index_map_size() == 1) {
      return coordinate(0);
    }
    HloInstruction* sum = nullptr;
    std::int64_t step = 1;  // rows from one element along the dimension to the next
    for (std::int64_t d = inner_ - 1; d >= 0; step *= entry(sizes_, d--)) {
      HloInstruction* number = nullptr;
      const std::int64_t of_outer = place_in(outer, d);
      const std::int64_t of_batch = place_in(numbers_.operand_batching_dims(), d);
      if (of_outer < std::ssize(outer)) {
        number = counted(sizes, of_outer);
      } else if (of_batch < numbers_.operand_batching_dims_size()) {
        const auto dimension = numbers_.start_indices_batching_dims(static_cast<int>(of_batch));
        number = counted(sizes, std::ssize(outer) + place_in(batch_, dimension));
      } else {
        const std::int64_t own = place_in(numbers_.start_index_map(), d);
        if (own == numbers_.start_index_map_size()) continue;  // always the first
        Dimensions after_outer(batch_.size());
        std::iota(after_outer.begin(), after_outer.end(), std::ssize(outer));
        HloInstruction* const all = coordinate(own);
        number = broadcast(clamp(fill_like(all, 0), all,
                                 fill_like(all, static_cast<double>(entry(sizes_, d) - 1))),
                           sizes, after_outer);
      }
      if (step > 1) number = binary(HloOpcode::kMultiply, number, filled(step, sizes));
      sum = accumulate(HloOpcode::kAdd, sum, number);
    }
    return sum == nullptr ? filled(0, sizes) : sum;
  }

  // From outer, batch_, inner to where the gather's result has them.
  DimensionOrder result_order(const Dimensions& outer) const {
    const std::int64_t batch_end = std::ssize(outer) + std::ssize(batch_);
    DimensionOrder order;
    std::int64_t next_batch = std::ssize(outer);
    std::int64_t next_whole = 0;
    for (std::int64_t d = 0; d < gather_.shape().rank(); ++d) {
      if (place_in(numbers_.offset_dims(), d) == numbers_.offset_dims_size()) {
        order.push_back(next_batch++);
      } else {
        const bool is_outer = next_whole < std::ssize(outer);
        order.push_back(is_outer ? next_whole : batch_end + next_whole - std::ssize(outer));
        ++next_whole;
      }
    }
    return order;
  }

  HloInstruction& gather_;
  const xla::GatherDimensionNumbers& numbers_;
  Dimensions sizes_, index_sizes_;  // with the dimension of coordinates
  xla::PrimitiveType type_;         // of indices
  std::int64_t inner_;              // the first inner dimension
  Dimensions batch_;                // dimensions of the indices, but that of coordinates
};

}  // namespace

Status replace_gather(HloInstruction& gather, PassContext& context) {
  if (gather.opcode() != HloOpcode::kGather || context.values().is_known(&gather)) return {};
  GatheredRows rows(gather);
  return rows.is_of_rows() ? replace(gather, rows.replacement()) : Status();
}

}  // namespace tfaot::toolkit::engine
