// SPDX-License-Identifier: Apache-2.0
#include "hlo/layouts.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "hlo/dimension_order.h"
#include "hlo/gather_before.h"
#include "hlo/merged_groups.h"
#include "hlo/simplify.h"
#include "hlo/swapped_products.h"
#include "hlo/transpose_cost.h"
#include "hlo/weight_values.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// What has the values `results` by dimension of the result, by dimension of the operand.
template <typename Values>
Dimensions before_transpose(const DimensionOrder& order, const Values& results) {
  Dimensions operands(order.size());
  for (std::int64_t d = 0; d < std::ssize(order); ++d) {
    entry(operands, entry(order, d)) = results[static_cast<std::size_t>(d)];
  }
  return operands;
}

HloInstruction* add_beside(HloInstruction* beside, std::unique_ptr<HloInstruction> made) {
  return beside->parent()->AddInstruction(std::move(made));
}

// Transposes, together with a transpose that made the operand.
HloInstruction* transpose_all(HloInstruction* operand, DimensionOrder order) {
  while (operand->opcode() == HloOpcode::kTranspose) {
    for (std::int64_t& d : order) d = operand->dimensions(d);
    operand = operand->mutable_operand(0);
  }
  return transpose(operand, order);
}

// As a scale and a shift of statistics.
constexpr int kMostCheap = 4;

// Moves transposes from the operands of operations to their results.
class Sinking {
 public:
  Sinking(xla::HloModule& module, std::int64_t first_weight, ProductSides sides)
      : module_(module), values_(module, first_weight), sides_(sides) {}

  Status run() {
    for (auto* computation : module_.MakeComputationPostOrder()) {
      for (auto* instruction : computation->MakeInstructionPostOrder()) {
        if (is_known(instruction) || !instruction->shape().IsArray() ||
            xla::ShapeUtil::IsZeroElementArray(instruction->shape())) {
          continue;
        }
        HloInstruction* made = sunk(*instruction);
        if (made != nullptr) TFAOT_TRY(checked(instruction->ReplaceAllUsesWith(made)));
      }
    }
    return {};
  }

 private:
  bool is_known(const HloInstruction* instruction) const {
    return known_.count(instruction) > 0 || values_.is_known(instruction);
  }
  bool is_moving(const HloInstruction* operand) const {
    return operand->opcode() == HloOpcode::kTranspose && !is_known(operand);
  }

  // The same as the operation, with the transpose of its operand after it; null: nothing changes.
  HloInstruction* sunk(HloInstruction& operation) {
    if (operation.opcode() == HloOpcode::kTranspose) return joined(operation);
    if (operation.opcode() == HloOpcode::kDot) {
      HloInstruction* const swapped = swapped_dot(operation);
      return swapped != nullptr ? swapped : dot_of_flattened(operation);
    }
    if (operation.opcode() == HloOpcode::kConcatenate || is_elementwise(operation)) {
      return sunk_through_any(operation);
    }
    if (operation.opcode() == HloOpcode::kReshape) {
      HloInstruction* const before = operation.mutable_operand(0);
      const bool is_back = before->opcode() == HloOpcode::kReshape &&
                           before->operand(0)->shape() == operation.shape();
      if (is_back) return before->mutable_operand(0);
    }
    if (operation.operand_count() == 0 || !is_moving(operation.operand(0))) return nullptr;
    const DimensionOrder order = order_of(*operation.operand(0));
    HloInstruction* x = operation.mutable_operand(0)->mutable_operand(0);
    switch (operation.opcode()) {
      case HloOpcode::kPad:
        return transpose(padded(operation, order, x), order);
      case HloOpcode::kSlice:
        return transpose(add_beside(x, HloInstruction::CreateSlice(
                                           shape_before(operation, order), x,
                                           before_transpose(order, operation.slice_starts()),
                                           before_transpose(order, operation.slice_limits()),
                                           before_transpose(order, operation.slice_strides()))),
                         order);
      case HloOpcode::kReverse: {
        Dimensions reversed;
        for (const std::int64_t d : operation.dimensions()) reversed.push_back(entry(order, d));
        return transpose(reverse(x, reversed), order);
      }
      case HloOpcode::kReduce:
        return operation.operand_count() == 2 ? sunk_reduce(operation, order, x) : nullptr;
      case HloOpcode::kReduceWindow:
        return operation.operand_count() == 2 ? transpose(with_window(operation, order, x), order)
                                              : nullptr;
      case HloOpcode::kReshape:
        return sunk_reshape(operation, order, x);
      case HloOpcode::kGather:
        return gather_of_untransposed(operation, order, x);
      default:
        return nullptr;
    }
  }

  static bool is_elementwise(const HloInstruction& operation) {
    const auto opcode = operation.opcode();
    if (!operation.IsElementwise() || operation.operand_count() == 0 || opcode == HloOpcode::kMap ||
        opcode == HloOpcode::kRng || operation.HasSideEffect()) {
      return false;
    }
    const auto rank = operation.shape().rank();
    return std::ranges::all_of(operation.operands(), [&](const HloInstruction* operand) {
      return operand->shape().rank() == rank || operand->shape().rank() == 0;
    });
  }

  static xla::Shape shape_before(const HloInstruction& operation, const DimensionOrder& order) {
    return shape_of(operation.shape().element_type(),
                    before_transpose(order, operation.shape().dimensions()));
  }

  HloInstruction* joined(HloInstruction& operation) {
    HloInstruction* operand = operation.mutable_operand(0);
    if (operand->opcode() == HloOpcode::kTranspose) {
      return transpose_all(operand, order_of(operation));
    }
    const DimensionOrder back = inverse_order(operation.dimensions());
    return is_made_of_less(*operand) ? untransposed(operand, back) : nullptr;
  }

  // Operands must all have come from the same order, or cost nothing to get there.
  HloInstruction* sunk_through_any(HloInstruction& operation) {
    const auto found = std::ranges::find_if(
        operation.operands(), [this](const HloInstruction* operand) { return is_moving(operand); });
    if (found == operation.operands().end()) return nullptr;
    const DimensionOrder order = order_of(**found);
    for (const HloInstruction* operand : operation.operands()) {
      if (!can_untranspose(*operand, order)) return nullptr;
    }
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : operation.operands()) {
      operands.push_back(untransposed(operand, order));
    }
    const xla::Shape shape = shape_before(operation, order);
    if (operation.opcode() == HloOpcode::kConcatenate) {
      return transpose(add_beside(&operation, HloInstruction::CreateConcatenate(
                                                  shape, operands,
                                                  entry(order, operation.concatenate_dimension()))),
                       order);
    }
    return transpose(add_beside(&operation, operation.CloneWithNewOperands(shape, operands)),
                     order);
  }

  static bool is_made_of_less(const HloInstruction& value) {
    return value.opcode() == HloOpcode::kBroadcast || value.opcode() == HloOpcode::kIota;
  }

  // Computed from less, by so many operations at most: so it is in another order, too.
  bool is_cheap(const HloInstruction& value, int operations) const {
    if (value.shape().rank() == 0 || is_known(&value) || is_made_of_less(value)) return true;
    return operations > 0 && is_elementwise(value) &&
           std::ranges::all_of(value.operands(), [&](const HloInstruction* operand) {
             return is_cheap(*operand, operations - 1);
           });
  }

  // That the value is the transpose, in this order, of something that is there or costs nothing.
  bool can_untranspose(const HloInstruction& value, const DimensionOrder& order) const {
    if (is_cheap(value, kMostCheap)) return true;
    if (value.opcode() == HloOpcode::kTranspose) return value.dimensions() == order;
    return transposed_user(value, inverse_order(order)) != nullptr;
  }

  static HloInstruction* transposed_user(const HloInstruction& value, const DimensionOrder& order) {
    for (HloInstruction* user : value.users()) {
      if (user->opcode() == HloOpcode::kTranspose && user->dimensions() == order) return user;
    }
    return nullptr;
  }

  // REQUIRES: can_untranspose()
  HloInstruction* untransposed(HloInstruction* value, const DimensionOrder& order) {
    if (value->shape().rank() == 0) return value;
    if (is_moving(value) && value->dimensions() == order) return value->mutable_operand(0);
    const DimensionOrder back = inverse_order(order);
    if (value->opcode() == HloOpcode::kBroadcast && !is_known(value)) {
      return broadcast_before(*value, order);
    }
    if (value->opcode() == HloOpcode::kIota) {
      const auto dimension = xla::Cast<xla::HloIotaInstruction>(value)->iota_dimension();
      return add_beside(
          value, HloInstruction::CreateIota(shape_before(*value, order), entry(order, dimension)));
    }
    const bool known = is_known(value);
    HloInstruction* const there = known ? nullptr : transposed_user(*value, back);
    if (!known && there == nullptr && is_cheap(*value, kMostCheap)) {
      std::vector<HloInstruction*> operands;
      for (HloInstruction* operand : value->operands()) {
        operands.push_back(untransposed(operand, order));
      }
      return add_beside(value, value->CloneWithNewOperands(shape_before(*value, order), operands));
    }
    HloInstruction* made = there != nullptr ? there : transpose_all(value, back);
    if (known) known_.insert(made);
    return made;
  }

  HloInstruction* broadcast_before(HloInstruction& value, const DimensionOrder& order) {
    Dimensions places;
    for (const std::int64_t d : value.dimensions()) places.push_back(entry(order, d));
    const DimensionOrder sorting = sorting_order(places);
    HloInstruction* source = value.mutable_operand(0);
    const bool known = is_known(source);
    if (!std::ranges::is_sorted(sorting)) source = transpose_all(source, sorting);
    if (known) known_.insert(source);
    std::ranges::sort(places);
    return broadcast(source, before_transpose(order, value.shape().dimensions()), places);
  }

  static HloInstruction* padded(HloInstruction& operation, const DimensionOrder& order,
                                HloInstruction* x) {
    xla::PaddingConfig padding = operation.padding_config();
    for (std::int64_t d = 0; d < std::ssize(order); ++d) {
      *padding.mutable_dimensions(static_cast<int>(entry(order, d))) =
          operation.padding_config().dimensions(static_cast<int>(d));
    }
    return add_beside(x, HloInstruction::CreatePad(shape_before(operation, order), x,
                                                   operation.mutable_operand(1), padding));
  }

  static HloInstruction* with_window(HloInstruction& operation, const DimensionOrder& order,
                                     HloInstruction* x) {
    xla::Window window = operation.window();
    for (std::int64_t d = 0; d < std::ssize(order); ++d) {
      *window.mutable_dimensions(static_cast<int>(entry(order, d))) =
          operation.window().dimensions(static_cast<int>(d));
    }
    return add_beside(x, HloInstruction::CreateReduceWindow(shape_before(operation, order), x,
                                                            operation.mutable_operand(1), window,
                                                            operation.to_apply()));
  }

  static HloInstruction* sunk_reduce(HloInstruction& operation, const DimensionOrder& order,
                                     HloInstruction* x) {
    Dimensions reduced;
    for (const std::int64_t d : operation.dimensions()) reduced.push_back(entry(order, d));
    Dimensions kept;  // by dimension of the result
    for (std::int64_t d = 0; d < std::ssize(order); ++d) {
      if (std::ranges::count(reduced, entry(order, d)) == 0) kept.push_back(entry(order, d));
    }
    const DimensionOrder from = sorting_order(kept);
    const DimensionOrder result_order = inverse_order(from);
    std::ranges::sort(reduced);
    return transpose(
        add_beside(x, HloInstruction::CreateReduce(shape_before(operation, result_order), x,
                                                   operation.mutable_operand(1), reduced,
                                                   operation.to_apply())),
        result_order);
  }

  // The dimensions of a group must lie side by side; where they do not, a transpose is left before
  // the reshape.
  static HloInstruction* sunk_reshape(HloInstruction& operation, const DimensionOrder& order,
                                      HloInstruction* x) {
    const std::vector<ReshapeGroup> groups = groups_of(operation);
    Dimensions places;  // by group: where its first dimension lies
    for (const ReshapeGroup& group : groups) {
      std::int64_t first = std::ssize(order);
      for (const std::int64_t d : group.from) {
        if (operation.operand(0)->shape().dimensions(static_cast<int>(d)) > 1) {
          first = std::min(first, entry(order, d));
        }
      }
      places.push_back(first);
    }
    DimensionOrder together;  // of x
    Dimensions sizes;
    Dimensions targets;  // by dimension after the reshape: which one of the result
    for (const std::int64_t g : sorting_order(places)) {
      const ReshapeGroup& group = groups[static_cast<std::size_t>(g)];
      for (const std::int64_t d : group.from) together.push_back(entry(order, d));
      for (const std::int64_t d : group.to) {
        targets.push_back(d);
        sizes.push_back(operation.shape().dimensions(static_cast<int>(d)));
      }
    }
    if (moves_elements(x->shape(), together)) x = transpose(x, together);
    return transpose(reshape(x, sizes), inverse_order(targets));
  }

  HloInstruction* swapped_dot(HloInstruction& dot) const {
    const bool may_swap =
        sides_ == ProductSides::kMaySwap && is_known(dot.operand(1)) && !is_known(dot.operand(0));
    return may_swap ? swapped_product(dot) : nullptr;
  }

  // A weight times dimensions that were transposed and made one: the weight's rows move instead.
  HloInstruction* dot_of_flattened(HloInstruction& dot) {
    HloInstruction* const flattened = dot.mutable_operand(0);
    HloInstruction* const weight = dot.mutable_operand(1);
    const auto& numbers = dot.dot_dimension_numbers();
    if (flattened->opcode() != HloOpcode::kReshape || !is_moving(flattened->operand(0)) ||
        !is_known(weight) || numbers.lhs_contracting_dimensions_size() != 1) {
      return nullptr;
    }
    const std::vector<ReshapeGroup> groups = groups_of(*flattened);
    const auto group = std::ranges::find(groups, Dimensions{numbers.lhs_contracting_dimensions(0)},
                                         &ReshapeGroup::to);
    if (group == groups.end()) return nullptr;
    const HloInstruction& transposed = *flattened->operand(0);
    DimensionOrder order = order_of(transposed);
    Dimensions places;
    for (const std::int64_t d : group->from) places.push_back(entry(order, d));
    const DimensionOrder sorting = sorting_order(places);
    for (std::int64_t i = 0; i < std::ssize(sorting); ++i) {
      entry(order, entry(group->from, i)) = entry(places, entry(sorting, i));
    }
    HloInstruction* const x = flattened->mutable_operand(0)->mutable_operand(0);
    if (moves_elements(x->shape(), order)) return nullptr;  // others move, too

    const std::int64_t row = numbers.rhs_contracting_dimensions(0);
    Dimensions sizes = dimensions_of(*weight);
    DimensionOrder rows_order(sizes.size() - 1 + sorting.size());
    std::iota(rows_order.begin(), rows_order.end(), 0);
    sizes.erase(sizes.begin() + row);
    for (std::int64_t i = 0; i < std::ssize(sorting); ++i) {
      sizes.insert(sizes.begin() + row + i,
                   transposed.shape().dimensions(static_cast<int>(entry(group->from, i))));
      entry(rows_order, row + i) = row + entry(sorting, i);
    }
    HloInstruction* const rows =
        reshape(transpose(reshape(weight, sizes), rows_order), weight->shape().dimensions());
    known_.insert(rows);
    HloInstruction* const columns = reshape(x, flattened->shape().dimensions());
    return add_beside(&dot, dot.CloneWithNewOperands(dot.shape(), {columns, rows}));
  }

  xla::HloModule& module_;
  WeightValues values_;
  ProductSides sides_;
  std::set<const HloInstruction*> known_;  // made here
};

Status move_transposes(xla::HloModule& module, std::int64_t first_weight, ProductSides sides) {
  TFAOT_TRY(split_merged_groups(module));
  TFAOT_TRY(Sinking(module, first_weight, sides).run());
  return remove_dead_code(module);
}

}  // namespace

Status settle_layouts(xla::HloModule& module, std::int64_t first_weight, ProductSides sides) {
  const bool reads_strides = sides == ProductSides::kMaySwap;
  const TransposeCost before = cost_of_transposes(module, first_weight, reads_strides);
  if (before.bytes == 0) return {};
  const auto trial = module.Clone("");
  TFAOT_TRY(move_transposes(*trial, first_weight, sides));
  if (!cost_of_transposes(*trial, first_weight, reads_strides).is_less_than(before)) return {};
  return move_transposes(module, first_weight, sides);
}

}  // namespace tfaot::toolkit::engine
