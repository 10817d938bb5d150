// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/bfloat16_calls.h"
#include "compiler/kernels/convolution_calls.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/packing.h"
#include "xla/permutation_util.h"

namespace tfaot::toolkit::engine {

namespace {

// ---- Strides of a product's operands in memory, through transposes and broadcasts before it:
// kernels take these instead of a copy.

// One operand of a product, or its result: the dimensions of `tensor` in the product's order.
struct Side {
  HloInstruction* tensor = nullptr;
  Strides batch = {}, free = {}, depth = {};
};

struct SideSteps {
  std::int64_t batch, inner, free, depth;
};

Side side_of(HloInstruction* tensor, absl::Span<const std::int64_t> batch,
             absl::Span<const std::int64_t> depth) {
  const Strides all = view_of(tensor).strides;
  const auto free = other_dimensions(tensor->shape().rank(), joined({batch, depth}));
  return {tensor, picked(all, batch), picked(all, free), picked(all, depth)};
}

// The same product with the operand of the side's tensor.
Side before_tensor(Side side) {
  for (Strides* list : {&side.batch, &side.free, &side.depth}) {
    *list = View{side.tensor, *list}.before()->strides;
  }
  side.tensor = side.tensor->mutable_operand(0);
  return side;
}

// The same product, but with the operand of a transpose or broadcast.
Side look_through(Side side) {
  while (xla::HloPredicateIsOp<kBroadcast, kTranspose>(side.tensor)) side = before_tensor(side);
  return side;
}

// Also with that of a reshape as before_reshape() takes, if there is a transpose before it. Its
// dimensions of size 1 may be in none of the lists then.
Side look_through_reshapes(Side side) {
  while (before_reshape(*side.tensor) && side.tensor->operand(0)->opcode() == kTranspose) {
    side = look_through(before_tensor(side));
  }
  return side;
}

// With the first `outer` dimensions of the batch on a level of their own; 0: there is one level.
std::optional<SideSteps> steps_of(const Side& side, std::size_t outer = 0) {
  const absl::Span<const Stride> batch = side.batch;
  const auto inner = step_of(batch.subspan(outer));
  const auto first = step_of(batch.first(outer));
  const auto free = step_of(side.free);
  const auto depth = step_of(side.depth);
  if (!inner || !first || !free || !depth) return {};
  return outer == 0 ? SideSteps{*inner, 0, *free, *depth}
                    : SideSteps{*first, *inner, *free, *depth};
}

// The order of the depth is free: both sides use the order of one side's memory.
void order_depth(Side& by, Side& other) {
  Dimensions order = counted(std::ssize(by.depth));
  std::ranges::stable_sort(order, std::greater(), [&](auto d) { return entry(by.depth, d).step; });
  for (Side* side : {&by, &other}) side->depth = picked(side->depth, order);
}

// The tensor written out as [batch, free, depth] or, with depth_first, [batch, depth, free]. If all
// matrices of a batch are the same, it stays one matrix.
Side written_out(Side side, bool depth_first) {
  Strides& rows = depth_first ? side.depth : side.free;
  Strides& columns = depth_first ? side.free : side.depth;
  Strides batch = side.batch;
  if (step_of(batch) == 0) std::erase_if(batch, [](const Stride& one) { return one.step == 0; });
  Strides all = batch;
  for (const Strides* list : {&rows, &columns}) all.insert(all.end(), list->begin(), list->end());
  side.tensor = copied({side.tensor, all});
  const Strides made = view_of(side.tensor).strides;
  const auto first_column = made.end() - std::ssize(columns);
  const auto first_row = first_column - std::ssize(rows);
  if (batch.size() == side.batch.size()) side.batch = {made.begin(), first_row};
  rows = {first_row, first_column};
  columns = {first_column, made.end()};
  return side;
}

// In a product without batch, leading free dimensions of one side may count as its batch: the other
// side's matrix is the same for all of them.
bool split_batch(Side& side, Side& other) {
  if (!side.batch.empty() || !other.batch.empty()) return false;
  for (std::ptrdiff_t count = 1; count < std::ssize(side.free); ++count) {
    Side split = side;
    split.batch.assign(side.free.begin(), side.free.begin() + count);
    split.free.assign(side.free.begin() + count, side.free.end());
    if (!steps_of(split)) continue;
    side = split;
    for (const Stride& one : side.batch) other.batch.push_back({one.size, 0});
    return true;
  }
  return false;
}

// ---- Weights that are stored in fewer bits than float32 (tfaot/kernels/abi.h). All that is done
// to the weights is HLO, which folding evaluates, so new weights are treated alike.

constexpr float kMostOfInt8 = 127;
constexpr float kMostOfFloat16 = 65504;

kernels::NarrowType narrow_type(WeightsType type) {
  switch (type) {
    case WeightsType::kBfloat16:
      return kernels::kBfloat16;
    case WeightsType::kFloat16:
      return kernels::kFloat16;
    case WeightsType::kFloat32:
    case WeightsType::kInt8:
      break;
  }
  return kernels::kInt8;
}

HloInstruction* between(HloInstruction* x, float most) {
  return binary(kMaximum, binary(kMinimum, x, fill_like(x, most)), fill_like(x, -most));
}

// For each column the number that makes its largest element 127; 1 for a column of zeros.
HloInstruction* scale_of_columns(HloInstruction* matrix) {
  HloInstruction* const zero = scalar_next_to(matrix, xla::F32, 0);
  HloInstruction* const largest = reduce(unary(kAbs, matrix), zero, {0, 1}, kMaximum);
  HloInstruction* const scale = binary(kDivide, largest, fill_like(largest, kMostOfInt8));
  HloInstruction* const is_zero =
      compare(scale, xla::ComparisonDirection::kEq, fill_like(scale, 0));
  return select(is_zero, fill_like(scale, 1), scale);
}

// True if such weights [1, depth, columns] are stored so. Few are not: nothing would be saved.
bool stays_narrow(const HloInstruction& matrix, WeightsType type) {
  return type != WeightsType::kFloat32 && type_of(matrix) == xla::F32 &&
         elements_of(matrix) >= tuned().narrow_fewest_elements;
}

// The call without its result's sizes and bias. REQUIRES: stays_narrow().
KernelCall narrow_product(const kernels::MatMulCall& call, HloInstruction* lhs,
                          HloInstruction* matrix, WeightsType type) {
  const kernels::NarrowMatMulCall narrow{call, narrow_type(type)};
  KernelCall made{Kernel::kNarrowMatMul, as_words(narrow), {lhs}};
  const std::int64_t group = kernels::narrow_group(narrow.rhs_type);
  switch (narrow.rhs_type) {
    case kernels::kBfloat16:
      made.operands.push_back(pack_words(matrix, xla::BF16, group));
      break;
    case kernels::kFloat16:
      made.operands.push_back(pack_words(between(matrix, kMostOfFloat16), xla::F16, group));
      break;
    default: {
      HloInstruction* scale = scale_of_columns(matrix);
      HloInstruction* whole =
          between(unary(kRoundNearestEven, binary_along(kDivide, matrix, scale, 2)), kMostOfInt8);
      made.operands.push_back(pack_words(whole, xla::S8, group));
      made.operands.push_back(scale);
    }
  }
  return made;
}

// ---- Products.

// True if a side can be packed: its matrix is known ahead and the same for all batches, and no
// dimension of it is broadcast.
bool can_be_packed(const Side& side, const WeightValues& values) {
  const auto is_spread = [](const Strides& list) {
    return std::ranges::find(list, 0, &Stride::step) != list.end();
  };
  return values.is_known(side.tensor) && step_of(side.batch) == 0 && !is_spread(side.depth) &&
         !is_spread(side.free);
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
  bool is_swapped = false;  // the rows are what decides the order of sums
};

// The transpose that is the only user of a dot, as one side of it: where its batch, its rows and
// its columns lie there. No tensor if there is none.
Side transposed_result(const HloInstruction& dot, const Side& lhs) {
  HloInstruction* last = only_user(dot);
  while (last != nullptr && before_reshape(*last)) last = only_user(*last);
  if (last == nullptr || last->opcode() != kTranspose) return {};
  const Strides before = picked(view_of(last).strides, xla::InversePermutation(last->dimensions()));
  const auto view = View{last, before}.reshaped(dot.shape().dimensions());
  if (!view) return {};
  const auto rows = view->strides.begin() + std::ssize(lhs.batch);
  const auto columns = rows + std::ssize(lhs.free);
  return {last, {view->strides.begin(), rows}, {rows, columns}, {columns, view->strides.end()}};
}

// Looks for levels of the batch that need no transpose of either side, nor of the result.
bool find_levels(Product& product, const Side& result) {
  if (product.lhs.batch.empty()) return false;
  for (std::size_t outer = 0; outer < product.lhs.batch.size(); ++outer) {
    if (!steps_of(product.lhs, outer) || !steps_of(product.rhs, outer)) continue;
    if (result.tensor != nullptr) {
      const auto steps = steps_of(result, outer);
      const bool is_line = elements_of(result.depth) == 1 || (steps && steps->depth == 1);
      if (!steps || !is_line) continue;
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
  const Side turned = {result.tensor, result.batch, result.depth, result.free};
  const auto swap_sides = [&] {
    std::swap(product.lhs, product.rhs);
    order_depth(product.rhs, product.lhs);
  };
  swap_sides();
  product.is_swapped = find_levels(product, turned);
  if (!product.is_swapped) swap_sides();
  return product.is_swapped;
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
    if (!steps_of(lhs)) product.lhs_is_split = split_batch(lhs, rhs);
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
    const bool is_one = lhs.batch.empty() && steps_of(product.lhs) && steps_of(product.rhs);
    if (is_one) return product;
    order_depth(rhs, lhs);
    if (!steps_of(lhs)) product.lhs_is_split = split_batch(lhs, rhs);
    if (!steps_of(rhs)) product.rhs_is_split = split_batch(rhs, lhs);
    if (!steps_of(rhs)) rhs = written_out(rhs, true);
  }
  if (!steps_of(lhs)) lhs = written_out(lhs, false);
  product.lhs = lhs;
  product.rhs = rhs;
  return product;
}

// Adds what a call says with two levels of batch or with results that lie in another order.
void place(kernels::MatMulCall& call, const Product& product) {
  const auto inner = absl::MakeConstSpan(product.lhs.batch).subspan(product.outer);
  call.epilogue = kernels::kEpiloguePlaced;
  call.inner_batch = product.outer == 0 ? 1 : elements_of(inner);
  call.result_row_stride = call.columns;
  call.result_inner_stride = call.rows * call.columns;
  call.result_batch_stride = call.inner_batch * call.result_inner_stride;
  if (product.result.tensor == nullptr) return;
  const SideSteps result = *steps_of(product.result, product.outer);
  call.result_row_stride = result.free;
  call.result_inner_stride = result.inner;
  call.result_batch_stride = result.batch;
}

kernels::MatMulCall fields_of(const Product& product) {
  const SideSteps lhs = *steps_of(product.lhs, product.outer);
  const SideSteps rhs = *steps_of(product.rhs, product.outer);
  kernels::MatMulCall call{};
  call.batch = elements_of(product.lhs.batch);
  call.rows = elements_of(product.lhs.free);
  call.columns = elements_of(product.rhs.free);
  call.depth = elements_of(product.lhs.depth);
  call.lhs_batch_stride = lhs.batch;
  call.lhs_inner_stride = lhs.inner;
  call.lhs_row_stride = lhs.free;
  call.lhs_depth_stride = lhs.depth;
  if (product.is_packed) {
    call.rhs_packed = 1;
  } else {
    call.rhs_batch_stride = rhs.batch;
    call.rhs_inner_stride = rhs.inner;
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
  for (const Strides* list : {&product.lhs.batch, &product.lhs.free, &product.rhs.free}) {
    for (const Stride& one : *list) form.sizes.push_back(one.size);
  }
  const auto batch = counted(std::ssize(product.lhs.batch));
  const auto rows = counted(std::ssize(product.lhs.free), std::ssize(batch));
  const auto columns = counted(std::ssize(product.rhs.free), std::ssize(batch) + std::ssize(rows));
  form.order = product.rhs_is_split   ? joined({rows, batch, columns})
               : !product.is_turned   ? joined({batch, rows, columns})
               : product.lhs_is_split ? joined({columns, batch, rows})
                                      : joined({batch, columns, rows});
  return form;
}

// The dot, or the transpose after it, whichever has its dimensions in the order of the call; null:
// neither. So what follows is added alike in a batch of one row, which has no transpose.
HloInstruction* in_call_order(HloInstruction& dot, const ResultForm& form) {
  const xla::Shape shape = shape_of(type_of(dot), form.sizes);
  HloInstruction* const user = only_user(dot);
  const bool is_back = user != nullptr && user->opcode() == kTranspose &&
                       !moves_elements(shape, picked(form.order, user->dimensions()));
  if (is_back) return user;
  return moves_elements(shape, form.order) ? nullptr : &dot;
}

// Turning costs a transpose of the result, unless the result is a vector or is transposed anyway.
bool is_cheap_to_turn(const HloInstruction& dot, const Side& lhs, const Side& rhs) {
  return elements_of(lhs.free) == 1 || elements_of(rhs.free) == 1 ||
         (dot.user_count() == 1 && dot.users().front()->opcode() == kTranspose);
}

// ---- Products of bfloat16.

// True if the left side's rows lie one after the other, as tfaot_low_precision reads them.
bool has_rows_in_order(const kernels::MatMulCall& call, const HloInstruction& lhs) {
  return call.batch == 1 && (call.lhs_depth_stride == 1 || call.depth == 1) &&
         (call.lhs_row_stride == call.depth || call.rows == 1) &&
         elements_of(lhs) == call.rows * call.depth;
}

// ---- Facts.

struct ProductFacts {
  using Call = kernels::MatMulCall;

  // A product of rows in order with a packed weight.
  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    return call.batch == 1 && call.rhs_packed != 0 && rows.divide(call.rows) &&
           call.lhs_depth_stride == 1 && call.lhs_row_stride == call.depth &&
           is_first_in_order(one, rows) && others_are_weights(one, rows, addends_of(call.epilogue));
  }
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    const auto batch = static_cast<double>(call.batch);
    const ProductSize size{call.rows, call.columns, call.depth, element_bytes(*one.operand(1))};
    const double right = bytes_of(one.operand(2)->shape());
    const double product =
        call.rhs_packed != 0 ? batch * speed.multiply(size, right)
                             : speed.waiting(right) + batch * product_cycles(speed.machine(), size);
    return call_cycles(one, speed) + product;
  }
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    return {fmt::format("{}{} x {} by {} x {}, {}{}",
                        call.batch == 1 ? "" : fmt::format("{} times ", call.batch), call.rows,
                        call.depth, call.depth, call.columns,
                        call.rhs_packed != 0 ? "packed weights" : "packed at each call",
                        epilogue_text(call.epilogue)),
            2 * call.batch * call.rows * call.columns * call.depth};
  }
};
struct PlainProductFacts : ProductFacts {
  static bool takes_function(const Call& /*call*/) { return true; }
};

}  // namespace

constinit const KernelFacts kMatMulFacts = facts_of<PlainProductFacts>();
constinit const KernelFacts kNarrowMatMulFacts = facts_of<ProductFacts>();

Status replace_dot(HloInstruction& dot, PassContext& context) {
  if (dot.opcode() != kDot) return {};
  const WeightValues& values = context.values();
  const WeightsType weights = context.choices.weights_type;
  const auto type = type_of(dot);
  if (values.is_known(&dot)) return {};
  if (!std::ranges::all_of(dot.operands(), [type](const HloInstruction* operand) {
        return is_for_kernels(*operand) && type_of(*operand) == type;
      })) {
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
  HloInstruction* const left_tensor = look_through(lhs).tensor;
  const bool weight_is_left = values.is_of_weights(left_tensor);
  const bool may_be_bfloat16 =
      is_for_bfloat16(*left_tensor, context) || is_for_bfloat16(*look_through(rhs).tensor, context);
  // Whether a row is rounded must not depend on the others, so then a weight is always right.
  Product product = arrange(lhs, rhs, transposed_result(dot, lhs),
                            may_be_bfloat16 || is_cheap_to_turn(dot, lhs, rhs), values);
  kernels::MatMulCall call = fields_of(product);
  bool is_bfloat16 = may_be_bfloat16 && product.is_packed;
  if (is_bfloat16 && !has_rows_in_order(call, *product.lhs.tensor)) {
    product.lhs = written_out(product.lhs, false);
    call = fields_of(product);
    is_bfloat16 = has_rows_in_order(call, *product.lhs.tensor);
  }
  const ResultForm form = result_form(product);

  Epilogue epilogue;
  HloInstruction* const start =
      product.result.tensor == nullptr ? in_call_order(dot, form) : nullptr;
  epilogue.last = product.result.tensor == nullptr ? &dot : product.result.tensor;
  if (start != nullptr) {
    epilogue = find_epilogue(*start, call.columns,
                             {.scale = product.is_packed,
                              .sum = is_bfloat16 || weights == WeightsType::kFloat32,
                              .rows = product.is_packed ? 0 : call.rows},
                             values);
  }
  call.epilogue |= epilogue.word();
  // The columns of a layer are those of its weight, whichever side that is.
  if (product.is_swapped != (!product.is_packed && weight_is_left)) {
    call.epilogue |= kernels::kEpilogueSwapped;
  }
  HloInstruction* right = product.rhs.tensor;
  if (product.is_packed) {
    right = reshape(right, {1, call.depth, call.columns});
    if (epilogue.scale != nullptr) {
      right = binary_along(kMultiply, right, epilogue.scale, 2);
    }
  }
  const auto is_weight = [&](const auto* operand) { return values.is_weight(operand); };
  const bool is_narrow = product.is_packed && stays_narrow(*right, weights) &&
                         std::ranges::any_of(dot.operands(), is_weight);
  kernels::ConvolutionCall of_rows = convolution_of_rows(call.rows, call.depth, call.columns);
  of_rows.epilogue = call.epilogue;
  KernelCall made = is_bfloat16 ? bfloat16_call(of_rows, product.lhs.tensor, right)
                    : is_narrow
                        ? narrow_product(call, product.lhs.tensor, right, weights)
                        : KernelCall{Kernel::kMatMul,
                                     as_words(call),
                                     {product.lhs.tensor, product.is_packed ? pack(right) : right}};
  made.result = product.result.tensor == nullptr ? form.sizes : dimensions_of(*epilogue.last);
  epilogue.add_operands(made.operands);
  HloInstruction* result = add_kernel_call(made, dot);
  if (product.result.tensor == nullptr && start == nullptr) {
    result = transpose(result, form.order);
  }
  return replace(*epilogue.last, result);
}

}  // namespace tfaot::toolkit::engine
