// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul_calls.h"

#include <algorithm>
#include <optional>

#include "kernels/epilogue.h"
#include "kernels/kernel_call.h"
#include "kernels/narrow_weights.h"
#include "kernels/packing.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr std::int64_t kBroadcast = -1;  // in place of a dimension: every index is the same element

// One operand of a product. The lists name dimensions of `tensor` in the product's order.
struct Side {
  HloInstruction* tensor;
  Dimensions batch, free, depth;  // dimensions, or kBroadcast
  Dimensions batch_sizes, free_sizes, depth_sizes;
};

Side side_of(HloInstruction* tensor, absl::Span<const std::int64_t> batch,
             absl::Span<const std::int64_t> depth) {
  Side side{tensor, {batch.begin(), batch.end()}, {}, {depth.begin(), depth.end()}, {}, {}, {}};
  const auto has = [](absl::Span<const std::int64_t> list, std::int64_t dimension) {
    return std::find(list.begin(), list.end(), dimension) != list.end();
  };
  for (std::int64_t d = 0; d < tensor->shape().rank(); ++d) {
    if (!has(batch, d) && !has(depth, d)) side.free.push_back(d);
  }
  const auto sizes = [&](const Dimensions& list) {
    Dimensions result;
    for (const auto d : list) result.push_back(tensor->shape().dimensions(static_cast<int>(d)));
    return result;
  };
  side.batch_sizes = sizes(side.batch);
  side.free_sizes = sizes(side.free);
  side.depth_sizes = sizes(side.depth);
  return side;
}

// The same product, but with the operand of a transpose or broadcast.
Side look_through(Side side) {
  while (side.tensor->opcode() == HloOpcode::kTranspose ||
         side.tensor->opcode() == HloOpcode::kBroadcast) {
    const auto& map = side.tensor->dimensions();
    const bool is_broadcast = side.tensor->opcode() == HloOpcode::kBroadcast;
    for (Dimensions* list : {&side.batch, &side.free, &side.depth}) {
      for (auto& d : *list) {
        if (d == kBroadcast) continue;
        if (is_broadcast) {
          const auto found = std::find(map.begin(), map.end(), d);
          d = found == map.end() ? kBroadcast : found - map.begin();
        } else {
          d = map[static_cast<std::size_t>(d)];
        }
      }
    }
    side.tensor = side.tensor->mutable_operand(0);
  }
  return side;
}

// The stride of a list of dimensions taken as one; nothing if they have no common stride.
std::optional<std::int64_t> stride_of(const Side& side, absl::Span<const std::int64_t> list,
                                      absl::Span<const std::int64_t> sizes) {
  const auto& shape = side.tensor->shape();
  std::optional<std::int64_t> stride;
  std::int64_t length = 1;
  for (std::size_t i = list.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    const std::int64_t step =
        list[i] == kBroadcast
            ? 0
            : product(shape.dimensions().subspan(static_cast<std::size_t>(list[i]) + 1));
    if (stride && step != *stride * length) return {};
    if (!stride) stride = step;
    length *= sizes[i];
  }
  return stride.value_or(0);
}

struct Strides {
  std::int64_t batch, free, depth;
};

std::optional<Strides> strides_of(const Side& side) {
  const auto batch = stride_of(side, side.batch, side.batch_sizes);
  const auto free = stride_of(side, side.free, side.free_sizes);
  const auto depth = stride_of(side, side.depth, side.depth_sizes);
  if (!batch || !free || !depth) return {};
  return Strides{*batch, *free, *depth};
}

// The order of the depth is free: both sides use the order of one side's memory.
void order_depth(Side& by, Side& other) {
  std::vector<std::size_t> order(by.depth.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return by.depth[a] < by.depth[b]; });
  for (Side* side : {&by, &other}) {
    Dimensions depth;
    Dimensions sizes;
    for (const auto i : order) {
      depth.push_back(side->depth[i]);
      sizes.push_back(side->depth_sizes[i]);
    }
    side->depth = depth;
    side->depth_sizes = sizes;
  }
}

// The tensor written out as [batch, free, depth] or, with depth_first, [batch, depth, free]. If all
// matrices of a batch are the same, it stays one matrix.
Side written_out(const Side& side, bool depth_first) {
  Side result = side;
  Dimensions kept;       // dimensions of the tensor
  Dimensions sizes;      // of the result
  Dimensions positions;  // of the kept ones in the result
  const auto batch = stride_of(side, side.batch, side.batch_sizes);
  const bool one_matrix = batch && *batch == 0;
  const auto add = [&](const Dimensions& list, const Dimensions& list_sizes, Dimensions& out) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] == kBroadcast && &list == &side.batch && one_matrix) continue;
      out[i] = static_cast<std::int64_t>(sizes.size());
      if (list[i] != kBroadcast) {
        kept.push_back(list[i]);
        positions.push_back(out[i]);
      }
      sizes.push_back(list_sizes[i]);
    }
  };
  add(side.batch, side.batch_sizes, result.batch);
  if (depth_first) add(side.depth, side.depth_sizes, result.depth);
  add(side.free, side.free_sizes, result.free);
  if (!depth_first) add(side.depth, side.depth_sizes, result.depth);
  result.tensor = transpose(side.tensor, kept);
  if (kept.size() != sizes.size()) result.tensor = broadcast(result.tensor, sizes, positions);
  return result;
}

// In a product without batch, leading free dimensions of one side may count as its batch: the other
// side's matrix is the same for all of them.
bool split_batch(Side& side, Side& other) {
  if (!side.batch.empty() || !other.batch.empty()) return false;
  for (std::size_t count = 1; count < side.free.size(); ++count) {
    Side split = side;
    const auto middle = static_cast<std::ptrdiff_t>(count);
    split.batch.assign(side.free.begin(), side.free.begin() + middle);
    split.batch_sizes.assign(side.free_sizes.begin(), side.free_sizes.begin() + middle);
    split.free.erase(split.free.begin(), split.free.begin() + middle);
    split.free_sizes.erase(split.free_sizes.begin(), split.free_sizes.begin() + middle);
    if (!strides_of(split)) continue;
    side = split;
    other.batch.assign(count, kBroadcast);
    other.batch_sizes = side.batch_sizes;
    return true;
  }
  return false;
}

// Whether a side can be packed: its matrix is known ahead and the same for all batches, and no
// dimension of it is broadcast.
bool can_be_packed(const Side& side, const WeightValues& values) {
  const auto batch = stride_of(side, side.batch, side.batch_sizes);
  if (!values.is_known(side.tensor) || !batch || *batch != 0) return false;
  const auto is_spread = [](const Dimensions& list) {
    return std::find(list.begin(), list.end(), kBroadcast) != list.end();
  };
  return !is_spread(side.depth) && !is_spread(side.free);
}

struct Product {
  Side lhs, rhs;
  bool is_packed = false;
  bool is_turned = false;     // sides swapped: the result is [batch, columns, rows] of the dot
  bool lhs_is_split = false;  // part of its free dimensions count as batch
  bool rhs_is_split =
      false;  // so for rhs: the result is [first columns, rows, last columns] of the dot
};

// Both sides in forms that the kernel accepts.
Product arrange(Side lhs, Side rhs, bool prefer_turned, const WeightValues& values) {
  Product product;
  lhs = look_through(lhs);
  rhs = look_through(rhs);
  product.is_packed = can_be_packed(rhs, values);
  if (!product.is_packed && prefer_turned && can_be_packed(lhs, values)) {
    std::swap(lhs, rhs);
    product.is_packed = product.is_turned = true;
  }
  if (product.is_packed) {
    order_depth(lhs, rhs);
    if (!strides_of(lhs)) product.lhs_is_split = split_batch(lhs, rhs);
    rhs = written_out(rhs, true);
  } else {
    order_depth(rhs, lhs);
    if (!strides_of(lhs)) product.lhs_is_split = split_batch(lhs, rhs);
    if (!strides_of(rhs)) product.rhs_is_split = split_batch(rhs, lhs);
    if (!strides_of(rhs)) rhs = written_out(rhs, true);
  }
  if (!strides_of(lhs)) lhs = written_out(lhs, false);
  product.lhs = lhs;
  product.rhs = rhs;
  return product;
}

kernels::MatMulCall fields_of(const Product& product) {
  const Strides lhs = *strides_of(product.lhs);
  const Strides rhs = *strides_of(product.rhs);
  kernels::MatMulCall call{};
  call.batch = engine::product(product.lhs.batch_sizes);
  call.rows = engine::product(product.lhs.free_sizes);
  call.columns = engine::product(product.rhs.free_sizes);
  call.depth = engine::product(product.lhs.depth_sizes);
  call.lhs_batch_stride = lhs.batch;
  call.lhs_row_stride = lhs.free;
  call.lhs_depth_stride = lhs.depth;
  if (product.is_packed) {
    call.rhs_packed = 1;
  } else {
    call.rhs_batch_stride = rhs.batch;
    call.rhs_depth_stride = rhs.depth;
    call.rhs_column_stride = rhs.free;
  }
  // One matrix for the whole batch: treat the batch as more rows of one product.
  if (call.rhs_batch_stride == 0 &&
      (call.rows == 1 || call.lhs_batch_stride == call.rows * call.lhs_row_stride)) {
    if (call.rows == 1) call.lhs_row_stride = call.lhs_batch_stride;
    call.rows *= call.batch;
    call.batch = 1;
    call.lhs_batch_stride = 0;
  }
  return call;
}

// The result's dimensions in the order of the call, and the permutation to the dot's order.
struct ResultForm {
  Dimensions sizes, order;
};

ResultForm result_form(const Product& product) {
  ResultForm form;
  for (const Dimensions* sizes :
       {&product.lhs.batch_sizes, &product.lhs.free_sizes, &product.rhs.free_sizes}) {
    form.sizes.insert(form.sizes.end(), sizes->begin(), sizes->end());
  }
  const auto batch = static_cast<std::int64_t>(product.lhs.batch_sizes.size());
  const auto rows = static_cast<std::int64_t>(product.lhs.free_sizes.size());
  const auto columns = static_cast<std::int64_t>(product.rhs.free_sizes.size());
  const auto add = [&](std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) form.order.push_back(from + i);
  };
  if (product.rhs_is_split) {
    add(batch, rows);
    add(0, batch);
    add(batch + rows, columns);
  } else if (product.is_turned) {
    const bool is_split = product.lhs_is_split;
    if (!is_split) add(0, batch);
    add(batch + rows, columns);
    if (is_split) add(0, batch);
    add(batch, rows);
  } else {
    add(0, batch + rows + columns);
  }
  return form;
}

// Turning costs a transpose of the result, unless the result is a vector or is transposed anyway.
bool is_cheap_to_turn(const HloInstruction& dot, const Side& lhs, const Side& rhs) {
  return product(lhs.free_sizes) == 1 || product(rhs.free_sizes) == 1 ||
         (dot.user_count() == 1 && dot.users().front()->opcode() == HloOpcode::kTranspose);
}

}  // namespace

Status replace_dot(HloInstruction& dot, const WeightValues& values, WeightsType weights) {
  const auto type = dot.shape().element_type();
  if (!has_kernels(type) || dot.operand(0)->shape().element_type() != type ||
      dot.operand(1)->shape().element_type() != type || values.is_known(&dot) ||
      xla::ShapeUtil::IsZeroElementArray(dot.operand(0)->shape()) ||
      xla::ShapeUtil::IsZeroElementArray(dot.operand(1)->shape())) {
    return {};
  }
  const auto& numbers = dot.dot_dimension_numbers();
  const Side lhs = side_of(dot.mutable_operand(0), numbers.lhs_batch_dimensions(),
                           numbers.lhs_contracting_dimensions());
  const Side rhs = side_of(dot.mutable_operand(1), numbers.rhs_batch_dimensions(),
                           numbers.rhs_contracting_dimensions());
  const Product product = arrange(lhs, rhs, is_cheap_to_turn(dot, lhs, rhs), values);
  kernels::MatMulCall call = fields_of(product);
  const ResultForm form = result_form(product);

  Epilogue epilogue;
  epilogue.last = &dot;
  if (std::is_sorted(form.order.begin(), form.order.end())) {
    epilogue = find_epilogue(dot, call.columns, product.is_packed, values);
  }
  call.epilogue = epilogue.word();
  HloInstruction* right = product.rhs.tensor;
  if (product.is_packed) {
    right = reshape(right, {1, call.depth, call.columns});
    if (epilogue.scale != nullptr) {
      right = binary(HloOpcode::kMultiply, right,
                     broadcast(epilogue.scale, right->shape().dimensions(), {2}));
    }
  }
  KernelCall made = product.is_packed && stays_narrow(*right, weights)
                        ? narrow_product(call, product.lhs.tensor, right, weights)
                        : KernelCall{"matmul",
                                     as_words(call),
                                     {product.lhs.tensor, product.is_packed ? pack(right) : right},
                                     {},
                                     kernels::matmul_scratch_bytes(call, element_bytes(dot))};
  made.result = form.sizes;
  if (epilogue.bias != nullptr) made.operands.push_back(epilogue.bias);
  HloInstruction* result = transpose(add_kernel_call(made, dot), form.order);
  return checked(
      epilogue.last->ReplaceAllUsesWith(reshape(result, epilogue.last->shape().dimensions())));
}

}  // namespace tfaot::toolkit::engine
