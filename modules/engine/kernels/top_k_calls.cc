// SPDX-License-Identifier: Apache-2.0
#include "kernels/top_k_calls.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "hlo/dimension_order.h"
#include "hlo/simplify.h"
#include "hlo/sort_order.h"
#include "hlo/weight_values.h"
#include "kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/service/topk_rewriter.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A sort of numbers, and of their places if there are two operands.
bool is_known_sort(const HloInstruction& sort, std::int64_t axis) {
  if (sort.operand_count() > 2) return false;
  const xla::Shape& shape = sort.operand(0)->shape();
  if (!has_kernels(shape.element_type()) || xla::ShapeUtil::IsZeroElementArray(shape) ||
      entry(shape.dimensions(), axis) > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  if (sort.operand_count() == 1) return true;
  const HloInstruction& places = *sort.operand(1);
  return places.opcode() == HloOpcode::kIota &&
         xla::Cast<xla::HloIotaInstruction>(&places)->iota_dimension() == axis;
}

// How many elements along the axis are used at most.
std::int64_t used_count(const HloInstruction& sorted, std::int64_t axis) {
  const std::int64_t all = entry(sorted.shape().dimensions(), axis);
  if (sorted.IsRoot()) return all;
  std::int64_t count = 0;
  for (const HloInstruction* user : sorted.users()) {
    count = std::max(count,
                     user->opcode() == HloOpcode::kSlice ? entry(user->slice_limits(), axis) : all);
  }
  return count;
}

// Each result of the sort, null if nothing uses it.
std::optional<std::vector<HloInstruction*>> results_of(HloInstruction& sort) {
  if (sort.operand_count() == 1) return std::vector{&sort};
  std::vector<HloInstruction*> results(2);
  if (sort.IsRoot()) return {};
  for (HloInstruction* user : sort.users()) {
    if (user->opcode() != HloOpcode::kGetTupleElement) return {};
    HloInstruction*& result = results[static_cast<std::size_t>(user->tuple_index())];
    if (result != nullptr) return {};
    result = user;
  }
  return results;
}

// `made` has the first elements of what stood there.
Status replace_used(HloInstruction& sorted, HloInstruction* made) {
  if (sorted.shape().dimensions() == made->shape().dimensions()) {
    return checked(sorted.ReplaceAllUsesWith(made));
  }
  for (HloInstruction* slice : std::vector(sorted.users().begin(), sorted.users().end())) {
    const bool is_all = slice->shape().dimensions() == made->shape().dimensions();
    TFAOT_TRY(checked(slice->ReplaceAllUsesWith(
        is_all ? made
               : made->parent()->AddInstruction(
                     slice->CloneWithNewOperands(slice->shape(), {made})))));
  }
  return {};
}

Status replace_sort(HloInstruction& sort) {
  const std::int64_t axis = sort.dimensions(0);
  if (!is_known_sort(sort, axis)) return {};
  const auto order = sort_order(*sort.to_apply());
  if (!order) return {};
  // Elements that are equal are the same if all bits count, but their places differ.
  const bool is_stable = xla::Cast<xla::HloSortInstruction>(&sort)->is_stable();
  if (!is_stable && (sort.operand_count() > 1 || !order->is_total)) return {};
  const auto results = results_of(sort);
  if (!results) return {};

  HloInstruction* x = sort.mutable_operand(0);
  const std::int64_t rank = x->shape().rank();
  kernels::TopKCall call{};
  for (const HloInstruction* result : *results) {
    if (result != nullptr) call.count = std::max(call.count, used_count(*result, axis));
  }
  if (call.count == 0) return {};
  DimensionOrder last(static_cast<std::size_t>(rank));  // the axis behind all others
  std::iota(last.begin(), last.end(), 0);
  last.erase(last.begin() + axis);
  last.push_back(axis);
  x = transpose(x, last);
  call.size = x->shape().dimensions(static_cast<int>(rank - 1));
  call.rows = xla::ShapeUtil::ElementsIn(x->shape()) / call.size;
  if (order->is_descending) call.order |= kernels::kTopKDescending;
  if (order->is_total) call.order |= kernels::kTopKTotalOrder;

  KernelCall made{"top_k", as_words(call), {x}, dimensions_of(*x)};
  made.result.back() = call.count;
  made.more_results = {shape_of(xla::S32, made.result)};
  made.scratch_bytes = kernels::top_k_scratch_bytes(call, element_bytes(*x));
  HloInstruction* values = add_kernel_call(made, sort);
  const DimensionOrder back = inverse_order(last);
  if ((*results)[0] != nullptr) {
    TFAOT_TRY(replace_used(*(*results)[0], transpose(values, back)));
  }
  if (results->size() < 2 || (*results)[1] == nullptr) return {};
  HloInstruction& sorted_places = *(*results)[1];
  HloInstruction* places = result_of_kernel(values, 1);
  if (sorted_places.shape().element_type() != xla::S32) {
    places = x->parent()->AddInstruction(HloInstruction::CreateConvert(
        shape_of(sorted_places.shape().element_type(), places->shape().dimensions()), places));
  }
  return replace_used(sorted_places, transpose(places, back));
}

}  // namespace

Status replace_sorts(xla::HloModule& module, std::int64_t first_weight) {
  xla::TopkDecomposer decomposer;  // makes sorts of JAX's top k
  TFAOT_TRY(checked(decomposer.Run(&module, {}).status()));
  const WeightValues values(module, first_weight);
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != HloOpcode::kSort || values.is_known(instruction)) continue;
      TFAOT_TRY(replace_sort(*instruction));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
