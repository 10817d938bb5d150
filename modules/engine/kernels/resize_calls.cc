// SPDX-License-Identifier: Apache-2.0
#include "kernels/resize_calls.h"

#include <algorithm>
#include <numeric>

#include "hlo/dimension_order.h"
#include "hlo/fixed_values.h"
#include "hlo/neighbours.h"
#include "hlo/simplify.h"
#include "kernels/kernel_call.h"
#include "kernels/product_sides.h"
#include "kernels/resized_windows.h"
#include "kernels/resizing.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Above, a product is as fast.
constexpr std::int64_t kMostNeighbours = 4;

// Rows of a graph's nodes, or of a sequence: the kernel that gathers rows copies them faster.
bool is_of_rows(const HloInstruction& x) {
  constexpr std::int64_t kFewestImageDimensions = 4;
  return x.shape().rank() < kFewestImageDimensions;
}

// Whether rows are repeated where they are used.
bool is_elementwise(const HloInstruction* user) { return user->IsElementwise(); }

HloInstruction* gathered(HloInstruction* x, std::int64_t axis,
                         const std::vector<std::int64_t>& places) {
  xla::GatherDimensionNumbers numbers;
  Dimensions slice = dimensions_of(*x);
  entry(slice, axis) = 1;
  Dimensions sizes = dimensions_of(*x);
  entry(sizes, axis) = std::ssize(places);
  for (std::int64_t d = 0; d < std::ssize(sizes); ++d) {
    if (d != axis) numbers.add_offset_dims(d);
  }
  numbers.add_collapsed_slice_dims(axis);
  numbers.add_start_index_map(axis);
  numbers.set_index_vector_dim(1);
  const std::vector<std::int32_t> words(places.begin(), places.end());
  HloInstruction* const indices = x->parent()->AddInstruction(
      HloInstruction::CreateConstant(xla::LiteralUtil::CreateR1<std::int32_t>(words)));
  return x->parent()->AddInstruction(HloInstruction::CreateGather(
      shape_of(x->shape().element_type(), sizes), x, indices, numbers, slice, false));
}

// Whether the kernel is faster than what stands there. Single numbers are not what it is made for,
// but a product of them has a NaN in all results of a line if one number of the line is NaN.
bool is_worth_it(const HloInstruction& x, std::int64_t axis, const Neighbours& neighbours) {
  const bool is_interpolation = neighbours.count == 2 && neighbours.in > 2;
  return neighbours.count <= kMostNeighbours &&
         (is_interpolation || size_of_part(x.shape().dimensions(), axis + 1, x.shape().rank()) > 1);
}

class Resizes {
 public:
  // What the operation is replaced by; null: it stays.
  Result<HloInstruction*> replacement(HloInstruction& operation) {
    if (!operation.shape().IsArray() || !has_kernels(operation.shape().element_type()) ||
        xla::ShapeUtil::IsZeroElementArray(operation.shape())) {
      return nullptr;
    }
    switch (operation.opcode()) {
      case HloOpcode::kDot: {
        TFAOT_ASSIGN(HloInstruction* const made, resized_windows(operation, fixed_));
        if (made != nullptr) return made;
        return of_matrix(operation);
      }
      case HloOpcode::kGather:
        return of_places(operation);
      case HloOpcode::kReshape:
        return of_repeats(operation);
      default:
        return nullptr;
    }
  }

  // Of a product with a matrix that only chooses rows: a gather of them. Null: it does more.
  Result<HloInstruction*> chosen_rows(HloInstruction& dot) {
    if (!has_kernels(dot.shape().element_type()) ||
        xla::ShapeUtil::IsZeroElementArray(dot.shape())) {
      return nullptr;
    }
    TFAOT_ASSIGN(const auto found, sparse_product(dot));
    if (!found || !is_of_rows(*found->x) ||
        !is_worth_it(*found->x, found->axis, found->neighbours) || found->neighbours.count != 1 ||
        std::ranges::count(found->neighbours.weights, 1) != found->neighbours.out()) {
      return nullptr;
    }
    return found->in_place_of(dot, gathered(found->x, found->axis, found->neighbours.start));
  }

 private:
  // A product with a matrix of which each result needs a few rows.
  Result<HloInstruction*> of_matrix(HloInstruction& dot) {
    TFAOT_ASSIGN(const auto found, sparse_product(dot));
    if (!found || !is_worth_it(*found->x, found->axis, found->neighbours)) return nullptr;
    return found->in_place_of(dot, resize_along(found->x, found->axis, found->neighbours, dot));
  }

  struct SparseProduct {
    HloInstruction* x;
    std::int64_t axis;  // of x, which the matrix meets
    Neighbours neighbours;
    Dimensions order;  // of what is made of x in the product's result

    HloInstruction* in_place_of(const HloInstruction& dot, HloInstruction* made) const {
      return reshape(transpose(made, order), dot.shape().dimensions());
    }
  };

  Result<std::optional<SparseProduct>> sparse_product(HloInstruction& dot) {
    using Found = std::optional<SparseProduct>;
    const auto& numbers = dot.dot_dimension_numbers();
    if (numbers.lhs_batch_dimensions_size() != 0 ||
        numbers.lhs_contracting_dimensions_size() != 1) {
      return Found();
    }
    for (const int side : {0, 1}) {
      HloInstruction* x = dot.mutable_operand(side);
      const HloInstruction& matrix = *dot.operand(1 - side);
      if (matrix.shape().rank() != 2 || !fixed_.is_fixed(matrix) || fixed_.is_fixed(*x) ||
          x->shape().element_type() != dot.shape().element_type()) {
        continue;
      }
      const auto axis_of = [&](int operand) {
        return operand == 0 ? numbers.lhs_contracting_dimensions(0)
                            : numbers.rhs_contracting_dimensions(0);
      };
      TFAOT_ASSIGN(const auto values, fixed_.value(matrix, xla::F64));
      Neighbours neighbours = neighbours_of(matrix_rows(values, axis_of(1 - side)));
      Dimensions order(static_cast<std::size_t>(x->shape().rank()));  // of x, in its operand's
      std::iota(order.begin(), order.end(), 0);
      while (const auto before = dimensions_before(*x)) {
        for (auto& d : order) {
          if (d != kBroadcast) d = entry(*before, d);
        }
        x = x->mutable_operand(0);
      }
      const std::int64_t axis = order[static_cast<std::size_t>(axis_of(side))];
      if (axis < 0) return Found();
      order.erase(order.begin() + axis_of(side));
      order.insert(side == 0 ? order.end() : order.begin(), axis);
      std::erase(order, kBroadcast);
      for (std::int64_t d = 0; d < x->shape().rank(); ++d) {
        if (std::ranges::count(order, d) == 0) order.insert(order.begin(), d);  // one element
      }
      return Found({x, axis, std::move(neighbours), std::move(order)});
    }
    return Found();
  }

  // By dimension of a transpose, or of a reshape that changes only dimensions of one element, that
  // of its operand; nothing for other operations.
  static std::optional<Dimensions> dimensions_before(const HloInstruction& one) {
    return one.opcode() == HloOpcode::kTranspose ? order_of(one) : before_reshape(one);
  }

  // For each result, the weights of all elements. `depth`: the dimension that is summed.
  static WeightRows matrix_rows(const xla::Literal& matrix, std::int64_t depth) {
    const std::int64_t in = matrix.shape().dimensions(static_cast<int>(depth));
    const std::int64_t out = matrix.shape().dimensions(static_cast<int>(1 - depth));
    const auto numbers = matrix.data<double>();
    WeightRows rows;
    for (std::int64_t i = 0; i < out; ++i) {
      rows.emplace_back();
      for (std::int64_t j = 0; j < in; ++j) {
        rows.back().push_back(
            numbers[static_cast<std::size_t>(depth == 0 ? j * out + i : i * in + j)]);
      }
    }
    return rows;
  }

  // Elements with known places along one dimension.
  Result<HloInstruction*> of_places(HloInstruction& gather) {
    const auto& numbers = gather.gather_dimension_numbers();
    HloInstruction* x = gather.mutable_operand(0);
    const HloInstruction& places = *gather.operand(1);
    const auto sizes = x->shape().dimensions();
    if (numbers.start_index_map_size() != 1 || numbers.collapsed_slice_dims_size() != 1 ||
        numbers.operand_batching_dims_size() != 0 ||
        numbers.collapsed_slice_dims(0) != numbers.start_index_map(0) || !fixed_.is_fixed(places) ||
        fixed_.is_fixed(*x) || is_of_rows(*x)) {
      return nullptr;
    }
    const std::int64_t axis = numbers.start_index_map(0);
    const auto slice = gather.gather_slice_sizes();
    for (std::int64_t d = 0; d < std::ssize(sizes); ++d) {
      const auto at = static_cast<std::size_t>(d);
      if (slice[at] != (d == axis ? 1 : sizes[at])) return nullptr;
    }
    if (gather.shape().rank() != x->shape().rank() ||
        xla::ShapeUtil::ElementsIn(places.shape()) !=
            gather.shape().dimensions(static_cast<int>(axis))) {
      return nullptr;
    }
    std::int64_t next = 0;
    for (const std::int64_t d : numbers.offset_dims()) {
      next += next == axis ? 1 : 0;
      if (d != next++) return nullptr;
    }
    TFAOT_ASSIGN(const auto values, fixed_.value(places, xla::S64));
    const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
    Neighbours neighbours{size, 1, {}, {}};
    for (const std::int64_t place : values.data<std::int64_t>()) {
      neighbours.start.push_back(std::clamp<std::int64_t>(place, 0, size - 1));
      neighbours.weights.push_back(1);
    }
    if (!is_worth_it(*x, axis, neighbours)) return nullptr;
    return resize_along(x, axis, neighbours, gather);
  }

  // Each element several times in a row: a broadcast along a new dimension that is then joined with
  // the one before it. XLA leaves out dimensions of size 1 or puts them in. Not along the first
  // dimension, which may be the batch.
  static HloInstruction* of_repeats(HloInstruction& reshaped) {
    HloInstruction* broadcast = reshaped.mutable_operand(0);
    if (broadcast->opcode() != HloOpcode::kBroadcast || broadcast->user_count() != 1) {
      return nullptr;
    }
    HloInstruction* x = broadcast->mutable_operand(0);
    if (is_of_rows(*x) && reshaped.user_count() > 0 &&
        std::ranges::all_of(reshaped.users(), is_elementwise)) {
      return nullptr;
    }
    Dimensions sizes = dimensions_of(*x);
    Dimensions own(static_cast<std::size_t>(broadcast->shape().rank()), -1);  // the operand's
    for (std::int64_t d = 0; d < std::ssize(sizes); ++d) {
      own[static_cast<std::size_t>(broadcast->dimensions(d))] = d;
    }
    std::int64_t times = 1;
    std::int64_t axis = -1;  // the one before the new dimension
    std::int64_t last = -1;
    bool is_first = true;
    for (std::size_t d = 0; d < own.size(); ++d) {
      const std::int64_t size = broadcast->shape().dimensions(static_cast<int>(d));
      if (size == 1) continue;
      if (own[d] < 0) {
        if (times != 1 || is_first) return nullptr;
        times = size;
        axis = last;
      } else {
        if (own[d] < last) return nullptr;
        is_first = d == 0;
        last = own[d];
      }
    }
    if (axis < 0) return nullptr;
    Neighbours neighbours{sizes[static_cast<std::size_t>(axis)], 1, {}, {}};
    sizes[static_cast<std::size_t>(axis)] *= times;
    Dimensions results = dimensions_of(reshaped);
    std::erase(sizes, 1);
    std::erase(results, 1);
    if (results != sizes) return nullptr;
    for (std::int64_t i = 0; i < neighbours.in * times; ++i) {
      neighbours.start.push_back(i / times);
      neighbours.weights.push_back(1);
    }
    if (!is_worth_it(*x, axis, neighbours)) return nullptr;
    return reshape(resize_along(x, axis, neighbours, reshaped), reshaped.shape().dimensions());
  }

  FixedValues fixed_;
};

}  // namespace

Status gather_chosen_rows(xla::HloModule& module) {
  Resizes resizes;
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != HloOpcode::kDot) continue;
      TFAOT_ASSIGN(HloInstruction* const made, resizes.chosen_rows(*instruction));
      if (made != nullptr) TFAOT_TRY(checked(instruction->ReplaceAllUsesWith(made)));
    }
  }
  return remove_dead_code(module);
}

Status replace_resizes(xla::HloModule& module) {
  Resizes resizes;
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      TFAOT_ASSIGN(HloInstruction* const made, resizes.replacement(*instruction));
      if (made != nullptr) TFAOT_TRY(checked(instruction->ReplaceAllUsesWith(made)));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
