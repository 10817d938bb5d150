// SPDX-License-Identifier: Apache-2.0
// Settles once in which order the dimensions of tensors lie. A net with channels first has
// transposes around each convolution and pool (onnx/operators/images.cc). Here they move
// towards the outputs, through operations that work in any order, until they cancel with their
// inverse. So only the ends of such a net are transposed. Values do not change.
#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/simplify.h"
#include "compiler/hlo/tuned.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/permutation_util.h"

namespace tfaot::toolkit::engine {
namespace {

// Says if a product with a weight may swap its sides: the transposed weight is then on the left.
enum class ProductSides { kStay, kMaySwap };

struct TransposeCost {
  std::int64_t bytes = 0;  // that are moved
  // Transposes right after a convolution, which keep its kernel from adding a bias.
  std::int64_t after_convolutions = 0;

  auto operator<=>(const TransposeCost& other) const = default;  // NOLINT(modernize-use-nullptr)
};

// A product with a weight reads a transposed left side by its strides.
bool is_read_by_strides(const HloInstruction& transpose, const WeightValues& values) {
  return std::ranges::all_of(transpose.users(), [&](const HloInstruction* user) {
    return user->opcode() == kDot && user->operand(0) == &transpose &&
           values.is_known(user->operand(1));
  });
}

// Transposes of weights do not count. With `reads_strides`, neither do those that products with
// weights read by strides. REQUIRES: no dead code.
TransposeCost cost_of_transposes(const xla::HloModule& module, std::int64_t first_weight,
                                 bool reads_strides) {
  const WeightValues values(module, first_weight);
  TransposeCost cost;
  for (const HloInstruction* one : instructions_of(module)) {
    if (one->opcode() != kTranspose || values.is_known(one) ||
        !moves_elements(one->operand(0)->shape(), one->dimensions()) ||
        (reads_strides && is_read_by_strides(*one, values))) {
      continue;
    }
    cost.bytes += xla::ShapeUtil::ByteSizeOf(one->shape());
    if (one->user_count() > 0 && one->operand(0)->opcode() == kConvolution) {
      ++cost.after_convolutions;
    }
  }
  return cost;
}

bool is_plain(const HloInstruction& dot) {
  return matrix_product(dot) && std::ranges::all_of(dot.operands(), [&](const auto* operand) {
           return type_of(*operand) == type_of(dot);
         });
}

// The weight [u, t] times x for each of the dimensions before t, its dimension `depth`: [b, u, c].
HloInstruction* product_of_each(HloInstruction& dot, HloInstruction* weight, HloInstruction* x,
                                std::int64_t depth) {
  const Dimensions batch(x->shape().dimensions().begin(), x->shape().dimensions().begin() + depth);
  xla::DotDimensionNumbers numbers;
  for (std::int64_t d = 0; d < depth; ++d) {
    numbers.add_lhs_batch_dimensions(d);
    numbers.add_rhs_batch_dimensions(d);
  }
  numbers.add_lhs_contracting_dimensions(depth + 1);
  numbers.add_rhs_contracting_dimensions(depth);
  Dimensions sizes = dimensions_of(*x);
  entry(sizes, depth) = size_of(*weight, 0);
  HloInstruction* const left =
      depth == 0
          ? weight
          : broadcast(weight, joined({batch, weight->shape().dimensions()}), {depth, depth + 1});
  return add_next_to(&dot, HloInstruction::CreateDot(shape_of(type_of(dot), sizes), left, x,
                                                     numbers, dot.precision_config()));
}

// A weight [u, t] as the left side of a product with x[b, t, c], as TensorFlow has it, is
// [u, b, c]: a transpose of the products of each b. Null if it is another one, or of few columns.
HloInstruction* product_of_left_weight(HloInstruction& dot) {
  const auto& numbers = dot.dot_dimension_numbers();
  HloInstruction* const x = dot.mutable_operand(1);
  if (dot.operand(0)->shape().rank() != 2 || numbers.lhs_batch_dimensions_size() > 0 ||
      numbers.rhs_contracting_dimensions_size() != 1 || type_of(*x) != type_of(dot)) {
    return nullptr;
  }
  const std::int64_t depth = numbers.rhs_contracting_dimensions(0);
  const std::int64_t columns = entry(view_of(x).strides, depth).step;
  if (depth == 0 || columns < tuned().layouts_fewest_swapped_columns) return nullptr;
  HloInstruction* weight = dot.mutable_operand(0);
  if (numbers.lhs_contracting_dimensions(0) == 0) weight = transpose(weight, {1, 0});
  Dimensions order = counted(x->shape().rank());
  std::rotate(order.begin(), order.begin() + depth, order.begin() + depth + 1);
  return transpose(product_of_each(dot, weight, x, depth), order);
}

// A product of a transposed tensor with a weight, as mixers have it along their tokens:
//
//   y[b, c, u] = sum over t of x[b, t, c] * w[t, u]
//
// is the product of the transposed weight with the untransposed tensor, [b, u, c], and a transpose
// after it, which may cancel with the one that puts tokens back. Null if the left side is no
// transpose that makes the depth the last dimension, or the columns would be too few.
HloInstruction* swapped_product(HloInstruction& dot) {
  if (!is_plain(dot)) return nullptr;
  HloInstruction* const left = dot.mutable_operand(0);
  View side{
      left,
      {entry(view_of(left).strides, dot.dot_dimension_numbers().lhs_contracting_dimensions(0))}};
  if (left->opcode() == kReshape) side = *side.before();
  if (side.tensor->opcode() != kTranspose) return nullptr;
  const Dimensions order = order_of(*side.tensor);
  const auto before = side.before();
  if (!before) return nullptr;
  HloInstruction* const x = before->tensor;
  const Strides all = view_of(x).strides;
  const std::int64_t depth = std::ranges::find(all, before->strides.front()) - all.begin();
  if (depth == std::ssize(all)) return nullptr;
  const std::int64_t columns = before->strides.front().step;  // before the depth is the batch
  if (columns < tuned().layouts_fewest_swapped_columns) return nullptr;

  const std::int64_t weight_depth = dot.dot_dimension_numbers().rhs_contracting_dimensions(0);
  HloInstruction* weight = dot.mutable_operand(1);
  if (weight_depth == 0) weight = transpose(weight, {1, 0});
  HloInstruction* const swapped = product_of_each(dot, weight, x, depth);
  const Dimensions back = joined({without(order, place_among(order, depth)), {depth}});
  return reshape(transpose(swapped, back), dot.shape().dimensions());
}

// The shape of which the operation's is the transpose in this order.
xla::Shape shape_before(const HloInstruction& operation, const Dimensions& order) {
  return shape_of(type_of(operation), xla::PermuteInverse(operation.shape().dimensions(), order));
}

// The same as `gather`, whose operand is the transpose of `x` in this order: a gather from x, whose
// slices are the result's last dimensions, and then a transpose.
HloInstruction* gather_of_untransposed(HloInstruction& gather, const Dimensions& order,
                                       HloInstruction* x) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  Dimensions collapsed = picked(order, numbers.collapsed_slice_dims());
  std::ranges::sort(collapsed);
  const Dimensions kept =  // dimensions of x that the result has
      picked(order, other_dimensions(std::ssize(order), numbers.collapsed_slice_dims()));
  const Dimensions places = xla::InversePermutation(sorting_order(kept));
  const std::int64_t rank = gather.shape().rank();
  const std::int64_t batch_end = rank - std::ssize(kept);
  Dimensions result_order;
  std::int64_t next_batch = 0;
  std::int64_t next_kept = 0;
  for (std::int64_t d = 0; d < rank; ++d) {
    const bool is_batch = !absl::c_linear_search(numbers.offset_dims(), d);
    result_order.push_back(is_batch ? next_batch++ : batch_end + entry(places, next_kept++));
  }
  const auto made = xla::HloGatherInstruction::MakeGatherDimNumbers(
      counted(std::ssize(kept), batch_end), collapsed, picked(order, numbers.start_index_map()),
      numbers.index_vector_dim());
  return transpose(
      add_next_to(x, HloInstruction::CreateGather(
                         shape_before(gather, result_order), x, gather.mutable_operand(1), made,
                         xla::PermuteInverse(gather.gather_slice_sizes(), order), false)),
      result_order);
}

// Maps windows or padding indexed by dimension of a transpose's result to its operand's dimensions.
template <typename Proto>
Proto before_transpose(const Dimensions& order, const Proto& results) {
  Proto operands = results;
  for (int d = 0; d < results.dimensions_size(); ++d) {
    *operands.mutable_dimensions(static_cast<int>(entry(order, d))) = results.dimensions(d);
  }
  return operands;
}

// Transposes, together with a transpose that made the operand.
HloInstruction* transpose_all(HloInstruction* operand, Dimensions order) {
  while (operand->opcode() == kTranspose) {
    for (std::int64_t& d : order) d = operand->dimensions(d);
    operand = operand->mutable_operand(0);
  }
  return transpose(operand, order);
}

// Operations, such as a scale and a shift of statistics.
constexpr int kMostCheap = 4;

// Moves transposes from the operands of operations to their results.
class Sinking {
 public:
  Sinking(xla::HloModule& module, std::int64_t first_weight, ProductSides sides)
      : module_(module), values_(module, first_weight), sides_(sides) {}

  Status run() {
    for (HloInstruction* one : instructions_of(module_)) {
      if (!is_known(one) && elements_of(*one) > 0) TFAOT_TRY(replace(*one, sunk(*one)));
    }
    return {};
  }

 private:
  bool is_known(const HloInstruction* instruction) const {
    return known_.count(instruction) > 0 || values_.is_known(instruction);
  }
  bool is_moving(const HloInstruction* operand) const {
    return operand->opcode() == kTranspose && !is_known(operand);
  }

  // The same as the operation, with the transpose of its operand after it; null: nothing changes.
  HloInstruction* sunk(HloInstruction& operation) {
    if (operation.opcode() == kTranspose) return joined(operation);
    if (operation.opcode() == kDot) {
      HloInstruction* swapped = nullptr;
      if (sides_ == ProductSides::kMaySwap && is_known(operation.operand(0))) {
        swapped = product_of_left_weight(operation);
      } else if (sides_ == ProductSides::kMaySwap && is_known(operation.operand(1))) {
        swapped = swapped_product(operation);
      }
      return swapped != nullptr ? swapped : dot_of_flattened(operation);
    }
    if (operation.opcode() == kConcatenate || is_elementwise(operation)) {
      return sunk_through_any(operation);
    }
    if (operation.opcode() == kReshape) {
      HloInstruction* const before = operation.mutable_operand(0);
      const bool is_back =
          before->opcode() == kReshape && before->operand(0)->shape() == operation.shape();
      if (is_back) return before->mutable_operand(0);
    }
    if (operation.operand_count() == 0 || !is_moving(operation.operand(0))) return nullptr;
    const Dimensions order = order_of(*operation.operand(0));
    HloInstruction* x = operation.mutable_operand(0)->mutable_operand(0);
    switch (operation.opcode()) {
      case kPad:
        return transpose(
            add_next_to(x, HloInstruction::CreatePad(
                               shape_before(operation, order), x, operation.mutable_operand(1),
                               before_transpose(order, operation.padding_config()))),
            order);
      case kSlice:
        return transpose(slice(x, xla::PermuteInverse(operation.slice_starts(), order),
                               xla::PermuteInverse(operation.slice_limits(), order),
                               xla::PermuteInverse(operation.slice_strides(), order)),
                         order);
      case kReverse:
        return transpose(reverse(x, picked(order, operation.dimensions())), order);
      case kReduce:
        return operation.operand_count() == 2 ? sunk_reduce(operation, order, x) : nullptr;
      case kReduceWindow:
        if (operation.operand_count() != 2) return nullptr;
        return transpose(
            add_next_to(x, HloInstruction::CreateReduceWindow(
                               shape_before(operation, order), x, operation.mutable_operand(1),
                               before_transpose(order, operation.window()), operation.to_apply())),
            order);
      case kReshape:
        return sunk_reshape(operation, order, x);
      case kGather:
        return gather_of_untransposed(operation, order, x);
      default:
        return nullptr;
    }
  }

  static bool is_elementwise(const HloInstruction& operation) {
    const auto opcode = operation.opcode();
    if (!operation.IsElementwise() || operation.operand_count() == 0 || opcode == kMap ||
        opcode == kRng || operation.HasSideEffect()) {
      return false;
    }
    const auto rank = operation.shape().rank();
    return std::ranges::all_of(operation.operands(), [&](const HloInstruction* operand) {
      return operand->shape().rank() == rank || operand->shape().rank() == 0;
    });
  }

  HloInstruction* joined(HloInstruction& operation) {
    HloInstruction* operand = operation.mutable_operand(0);
    if (operand->opcode() == kTranspose) return transpose_all(operand, order_of(operation));
    const Dimensions back = xla::InversePermutation(operation.dimensions());
    return is_made_of_less(*operand) ? untransposed(operand, back) : nullptr;
  }

  // All operands must be transposes in the same order, or free to transpose.
  HloInstruction* sunk_through_any(HloInstruction& operation) {
    const auto& all = operation.operands();
    const auto found =
        absl::c_find_if(all, [this](const auto* operand) { return is_moving(operand); });
    if (found == all.end()) return nullptr;
    const Dimensions order = order_of(**found);
    if (!absl::c_all_of(all, [&](const auto* one) { return can_untranspose(*one, order); })) {
      return nullptr;
    }
    if (operation.opcode() != kConcatenate)
      return transpose(rebuilt_before(operation, order), order);
    Instructions operands = operands_of(operation);
    for (HloInstruction*& operand : operands) operand = untransposed(operand, order);
    return transpose(concatenate(operands, entry(order, operation.concatenate_dimension())), order);
  }

  // An elementwise operation on its operands before they are transposed.
  HloInstruction* rebuilt_before(HloInstruction& operation, const Dimensions& order) {
    return rebuild_on(operation, shape_before(operation, order).dimensions(),
                      [&](HloInstruction* operand) { return untransposed(operand, order); });
  }

  static bool is_made_of_less(const HloInstruction& value) {
    return value.opcode() == kBroadcast || value.opcode() == kIota;
  }

  // True if it is computed from less by at most this many operations: any order is then free.
  bool is_cheap(const HloInstruction& value, int operations) const {
    if (value.shape().rank() == 0 || is_known(&value) || is_made_of_less(value)) return true;
    return operations > 0 && is_elementwise(value) &&
           std::ranges::all_of(value.operands(), [&](const HloInstruction* operand) {
             return is_cheap(*operand, operations - 1);
           });
  }

  // True if the value is the transpose, in this order, of one that exists or is free.
  bool can_untranspose(const HloInstruction& value, const Dimensions& order) const {
    if (is_cheap(value, kMostCheap)) return true;
    if (value.opcode() == kTranspose) return value.dimensions() == order;
    return transposed_user(value, xla::InversePermutation(order)) != nullptr;
  }

  static HloInstruction* transposed_user(const HloInstruction& value, const Dimensions& order) {
    for (HloInstruction* user : value.users()) {
      if (user->opcode() == kTranspose && user->dimensions() == order) return user;
    }
    return nullptr;
  }

  // REQUIRES: can_untranspose()
  HloInstruction* untransposed(HloInstruction* value, const Dimensions& order) {
    if (value->shape().rank() == 0) return value;
    if (is_moving(value) && value->dimensions() == order) return value->mutable_operand(0);
    const Dimensions back = xla::InversePermutation(order);
    if (value->opcode() == kBroadcast && !is_known(value)) {
      return broadcast_before(*value, order);
    }
    if (value->opcode() == kIota) {
      const auto dimension = xla::Cast<xla::HloIotaInstruction>(value)->iota_dimension();
      return iota_next_to(value, shape_before(*value, order), entry(order, dimension));
    }
    const bool known = is_known(value);
    HloInstruction* const there = known ? nullptr : transposed_user(*value, back);
    if (!known && there == nullptr && is_cheap(*value, kMostCheap)) {
      return rebuilt_before(*value, order);
    }
    HloInstruction* made = there != nullptr ? there : transpose_all(value, back);
    if (known) known_.insert(made);
    return made;
  }

  HloInstruction* broadcast_before(HloInstruction& value, const Dimensions& order) {
    Dimensions places = picked(order, value.dimensions());
    const Dimensions sorting = sorting_order(places);
    HloInstruction* source = value.mutable_operand(0);
    const bool known = is_known(source);
    if (!std::ranges::is_sorted(sorting)) source = transpose_all(source, sorting);
    if (known) known_.insert(source);
    std::ranges::sort(places);
    return broadcast(source, xla::PermuteInverse(value.shape().dimensions(), order), places);
  }

  static HloInstruction* sunk_reduce(HloInstruction& operation, const Dimensions& order,
                                     HloInstruction* x) {
    Dimensions reduced = picked(order, operation.dimensions());
    const Dimensions kept =  // by dimension of the result
        picked(order, other_dimensions(std::ssize(order), operation.dimensions()));
    const Dimensions result_order = xla::InversePermutation(sorting_order(kept));
    std::ranges::sort(reduced);
    return transpose(engine::reduce(x, operation.mutable_operand(1), reduced, operation.to_apply()),
                     result_order);
  }

  // The dimensions of a group must be contiguous; otherwise a transpose stays before the reshape.
  static HloInstruction* sunk_reshape(HloInstruction& operation, const Dimensions& order,
                                      HloInstruction* x) {
    const std::vector<ReshapeGroup> groups = groups_of(operation);
    Dimensions places;  // by group: where its first dimension lies
    for (const ReshapeGroup& group : groups) {
      std::int64_t first = std::ssize(order);
      for (const std::int64_t d : group.from) first = std::min(first, entry(order, d));
      places.push_back(first);
    }
    Dimensions together;  // of x
    Dimensions sizes;
    Dimensions targets;  // by dimension after the reshape: which one of the result
    for (const std::int64_t g : sorting_order(places)) {
      const ReshapeGroup& group = entry(groups, g);
      for (const std::int64_t d : group.from) together.push_back(entry(order, d));
      for (const std::int64_t d : group.to) {
        targets.push_back(d);
        sizes.push_back(size_of(operation, d));
      }
    }
    if (moves_elements(x->shape(), together)) x = transpose(x, together);
    return transpose(reshape(x, sizes), xla::InversePermutation(targets));
  }

  // A product over dimensions that were transposed and joined: the weight's rows move instead.
  HloInstruction* dot_of_flattened(HloInstruction& dot) {
    HloInstruction* const flattened = dot.mutable_operand(0);
    HloInstruction* const weight = dot.mutable_operand(1);
    const auto& numbers = dot.dot_dimension_numbers();
    if (flattened->opcode() != kReshape || !is_moving(flattened->operand(0)) || !is_known(weight) ||
        numbers.lhs_contracting_dimensions_size() != 1) {
      return nullptr;
    }
    const std::vector<ReshapeGroup> groups = groups_of(*flattened);
    const auto group = std::ranges::find(groups, Dimensions{numbers.lhs_contracting_dimensions(0)},
                                         &ReshapeGroup::to);
    if (group == groups.end()) return nullptr;
    const HloInstruction& transposed = *flattened->operand(0);
    Dimensions order = order_of(transposed);
    const Dimensions places = picked(order, group->from);
    const Dimensions sorting = sorting_order(places);
    for (std::int64_t i = 0; i < std::ssize(sorting); ++i) {
      entry(order, entry(group->from, i)) = entry(places, entry(sorting, i));
    }
    HloInstruction* const x = flattened->mutable_operand(0)->mutable_operand(0);
    if (moves_elements(x->shape(), order)) return nullptr;  // others move, too

    const std::int64_t row = numbers.rhs_contracting_dimensions(0);
    Dimensions sizes = dimensions_of(*weight);
    Dimensions rows_order = counted(std::ssize(sizes) - 1 + std::ssize(sorting));
    sizes.erase(sizes.begin() + row);
    for (std::int64_t i = 0; i < std::ssize(sorting); ++i) {
      sizes.insert(sizes.begin() + row + i, size_of(transposed, entry(group->from, i)));
      entry(rows_order, row + i) = row + entry(sorting, i);
    }
    HloInstruction* const rows =
        reshape(transpose(reshape(weight, sizes), rows_order), weight->shape().dimensions());
    known_.insert(rows);
    HloInstruction* const columns = reshape(x, flattened->shape().dimensions());
    return rebuild(dot, dot.shape().dimensions(), {columns, rows});
  }

  xla::HloModule& module_;
  WeightValues values_;
  ProductSides sides_;
  std::set<const HloInstruction*> known_;  // made here
};

// Leaves the module unchanged unless fewer bytes are transposed. Where sides may swap, transposes
// that a product reads by strides are free.
Status settle(xla::HloModule& module, std::int64_t first_weight, ProductSides sides) {
  const bool reads_strides = sides == ProductSides::kMaySwap;
  const TransposeCost before = cost_of_transposes(module, first_weight, reads_strides);
  if (before == TransposeCost()) return {};
  const auto trial = module.Clone("");
  TFAOT_TRY(Sinking(*trial, first_weight, sides).run());
  TFAOT_TRY(remove_dead_code(*trial));
  if (cost_of_transposes(*trial, first_weight, reads_strides) >= before) return {};
  return Sinking(module, first_weight, sides).run();
}

}  // namespace

Status settle_layouts(xla::HloModule& module, PassContext& context) {
  return settle(module, context.inputs, ProductSides::kStay);
}

Status settle_layouts_of_calls(xla::HloModule& module, PassContext& context) {
  return settle_layouts(module, context);
}

Status swap_products(xla::HloModule& module, PassContext& context) {
  // Weights of fewer bits are right sides.
  const Choices& choices = context.choices;
  if (choices.weights_type != WeightsType::kFloat32 || choices.wants_bfloat16()) return {};
  return settle(module, context.inputs, ProductSides::kMaySwap);
}

}  // namespace tfaot::toolkit::engine
