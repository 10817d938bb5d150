// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_call.h"
#include "compiler/kernels/narrow_weights.h"
#include "compiler/kernels/packing.h"
#include "compiler/kernels/product_sides.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// True if a side can be packed: its matrix is known ahead and the same for all batches, and no
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
  Side result = {};       // where it goes if not as [batch, rows, columns], with columns as depth
  std::size_t outer = 0;  // dimensions of the batch on a level of their own
  bool is_packed = false;
  bool is_turned = false;     // sides swapped: the result is [batch, columns, rows] of the dot
  bool lhs_is_split = false;  // part of its free dimensions count as batch
  bool rhs_is_split =
      false;  // so for rhs: the result is [first columns, rows, last columns] of the dot
};

// The transpose that is the only user of a dot, as one side of it: where its batch, its rows and
// its columns lie there. No tensor if there is none.
Side transposed_result(HloInstruction& dot, const Side& lhs, const Side& rhs) {
  HloInstruction* at = &dot;
  Dimensions places(static_cast<std::size_t>(dot.shape().rank()));  // by dimension of the dot
  for (std::size_t d = 0; d < places.size(); ++d) places[d] = static_cast<std::int64_t>(d);
  const auto follow = [&](absl::Span<const std::int64_t> map) {  // by dimension of the user
    for (auto& place : places) {
      const auto found = std::find(map.begin(), map.end(), place);
      place = found == map.end() || place == kBroadcast ? kBroadcast : found - map.begin();
    }
  };
  while (at->user_count() == 1 && !at->IsRoot()) {
    HloInstruction* const user = at->users().front();
    if (user->opcode() == HloOpcode::kTranspose) {
      follow(user->dimensions());
      const auto batch = static_cast<std::ptrdiff_t>(lhs.batch.size());
      const auto rows = batch + static_cast<std::ptrdiff_t>(lhs.free.size());
      const auto first = places.begin();
      return {user,
              {first, first + batch},
              {first + batch, first + rows},
              {first + rows, places.end()},
              lhs.batch_sizes,
              lhs.free_sizes,
              rhs.free_sizes};
    }
    const auto map = before_reshape(*user);
    if (!map) break;
    follow(*map);
    at = user;
  }
  return {};
}

// Looks for levels of the batch that need no transpose of either side, nor of the result.
bool find_levels(Product& product, const Side& result) {
  if (product.lhs.batch.empty()) return false;
  for (std::size_t outer = 0; outer < product.lhs.batch.size(); ++outer) {
    if (!strides_of(product.lhs, outer) || !strides_of(product.rhs, outer)) continue;
    if (result.tensor != nullptr) {
      const auto strides = strides_of(result, outer);
      const bool is_line =
          engine::product(result.depth_sizes) == 1 || (strides && strides->depth == 1);
      if (!strides || !is_line) continue;
    }
    product.outer = outer;
    product.result = result;
    return true;
  }
  return false;
}

// The same with the sides swapped, for a result that is transposed so that the left side's free
// dimensions lie side by side: JAX and Keras write einsums of attention in this order.
bool find_turned_levels(Product& product, const Side& result) {
  const Side turned = {result.tensor,      result.batch,       result.depth,     result.free,
                       result.batch_sizes, result.depth_sizes, result.free_sizes};
  const auto swap_sides = [&] {
    std::swap(product.lhs, product.rhs);
    order_depth(product.rhs, product.lhs);
  };
  swap_sides();
  if (find_levels(product, turned)) return true;
  swap_sides();
  return false;
}

// Both sides in forms that the kernel accepts. `result`: of transposed_result().
Product arrange(Side lhs, Side rhs, const Side& result, bool prefer_turned,
                const WeightValues& values) {
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
    product.lhs = look_through_reshapes(lhs);
    product.rhs = look_through_reshapes(rhs);
    order_depth(product.rhs, product.lhs);
    if (result.tensor != nullptr &&
        (find_levels(product, result) || find_turned_levels(product, result))) {
      return product;
    }
    if (find_levels(product, {})) return product;
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

// Adds what a call says with two levels of batch or with results that lie in another order.
void place(kernels::MatMulCall& call, const Product& product) {
  const auto inner = absl::MakeConstSpan(product.lhs.batch_sizes).subspan(product.outer);
  call.epilogue = kernels::kEpiloguePlaced;
  call.inner_batch = product.outer == 0 ? 1 : engine::product(inner);
  call.lhs_inner_stride = strides_of(product.lhs, product.outer)->inner;
  call.rhs_inner_stride = strides_of(product.rhs, product.outer)->inner;
  call.result_row_stride = call.columns;
  call.result_inner_stride = call.rows * call.columns;
  call.result_batch_stride = call.inner_batch * call.result_inner_stride;
  if (product.result.tensor == nullptr) return;
  const Strides result = *strides_of(product.result, product.outer);
  call.result_row_stride = result.free;
  call.result_inner_stride = result.inner;
  call.result_batch_stride = result.batch;
}

kernels::MatMulCall fields_of(const Product& product) {
  const Strides lhs = *strides_of(product.lhs, product.outer);
  const Strides rhs = *strides_of(product.rhs, product.outer);
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
  if (product.outer > 0 || product.result.tensor != nullptr) {
    place(call, product);
    return call;
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

Status replace_dot(HloInstruction& dot, PassContext& context) {
  if (dot.opcode() != HloOpcode::kDot) return {};
  const WeightValues& values = context.values();
  const WeightsType weights = context.choices.weights_type;
  const auto type = dot.shape().element_type();
  const auto has_type = [&](const HloInstruction* operand) {
    return is_for_kernels(*operand) && operand->shape().element_type() == type;
  };
  if (values.is_known(&dot)) return {};
  if (!std::ranges::all_of(dot.operands(), has_type)) {
    if (elements_of(dot) > 0) {
      add_remark(context, dot, "no matmul: its operands are not all float32, or all float64");
    }
    return {};
  }
  const auto& numbers = dot.dot_dimension_numbers();
  const Side lhs = side_of(dot.mutable_operand(0), numbers.lhs_batch_dimensions(),
                           numbers.lhs_contracting_dimensions());
  const Side rhs = side_of(dot.mutable_operand(1), numbers.rhs_batch_dimensions(),
                           numbers.rhs_contracting_dimensions());
  const Product product =
      arrange(lhs, rhs, transposed_result(dot, lhs, rhs), is_cheap_to_turn(dot, lhs, rhs), values);
  kernels::MatMulCall call = fields_of(product);
  const ResultForm form = result_form(product);

  Epilogue epilogue;
  epilogue.last = product.result.tensor == nullptr ? &dot : product.result.tensor;
  if (product.result.tensor == nullptr && std::is_sorted(form.order.begin(), form.order.end())) {
    epilogue = find_epilogue(dot, call.columns,
                             {.scale = product.is_packed,
                              .sum = weights == WeightsType::kFloat32,
                              .rows = product.is_packed ? 0 : call.rows},
                             values);
  }
  call.epilogue |= epilogue.word();
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
                        : KernelCall{Kernel::kMatMul,
                                     as_words(call),
                                     {product.lhs.tensor, product.is_packed ? pack(right) : right},
                                     {},
                                     kernels::matmul_scratch_bytes(call, element_bytes(dot))};
  made.result = product.result.tensor == nullptr ? form.sizes : dimensions_of(*epilogue.last);
  epilogue.add_operands(made.operands);
  HloInstruction* result = add_kernel_call(made, dot);
  if (product.result.tensor == nullptr) result = transpose(result, form.order);
  return replace(*epilogue.last, result);
}

}  // namespace tfaot::toolkit::engine
