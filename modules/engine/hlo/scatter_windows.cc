// SPDX-License-Identifier: Apache-2.0
#include "hlo/scatter_windows.h"

#include <algorithm>

#include "hlo/dimension_order.h"
#include "hlo/place_tuples.h"
#include "hlo/simplify.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A coordinate that only counts along the operand's last dimension that has no window.
struct Counted {
  std::int64_t coordinate;
  std::int64_t place;    // the indices' dimension that it counts
  std::int64_t operand;  // the operand's dimension
};

std::optional<Counted> find_counted(const PlaceTuples& places, const HloInstruction& scatter) {
  const auto& numbers = scatter.scatter_dimension_numbers();
  const auto& map = numbers.scatter_dims_to_operand_dims();
  if (numbers.inserted_window_dims().empty() || map.size() < 2) return std::nullopt;
  const std::int64_t d = *numbers.inserted_window_dims().rbegin();
  const auto coordinate = std::ranges::find(map, d) - map.begin();
  if (coordinate == map.size()) return std::nullopt;
  const auto place = places.counted_dimension(coordinate, entry(scatter.shape().dimensions(), d));
  if (!place) return std::nullopt;
  return Counted{coordinate, *place, d};
}

// The order of the update: its places but the counted one, then all windows, of which the counted
// one is where the operand has it.
DimensionOrder update_order(const HloInstruction& scatter, const Counted& counted) {
  const auto& numbers = scatter.scatter_dimension_numbers();
  const auto& windows = numbers.update_window_dims();
  Dimensions places;
  for (std::int64_t d = 0; d < scatter.operand(2)->shape().rank(); ++d) {
    if (std::ranges::count(windows, d) == 0) places.push_back(d);
  }
  DimensionOrder order = places;
  order.erase(order.begin() + counted.place);
  order.insert(order.end(), windows.begin(), windows.end());
  const std::int64_t windows_before =
      counted.operand - (numbers.inserted_window_dims_size() - 1);  // it is the last without one
  order.insert(order.begin() + std::ssize(places) - 1 + windows_before,
               entry(places, counted.place));
  return order;
}

// The same with a window of one more dimension; null: there is none.
HloInstruction* widened(HloInstruction& scatter) {
  xla::ScatterDimensionNumbers numbers = scatter.scatter_dimension_numbers();
  if (scatter.operand_count() != 3 || numbers.input_batching_dims_size() != 0) return nullptr;
  const auto places = PlaceTuples::of(*scatter.mutable_operand(1), numbers.index_vector_dim());
  if (!places) return nullptr;
  const auto counted = find_counted(*places, scatter);
  if (!counted) return nullptr;
  const DimensionOrder order = update_order(scatter, *counted);
  HloInstruction* const updates = transpose(scatter.mutable_operand(2), order);
  HloInstruction* const indices = places->without(counted->coordinate, counted->place);
  auto& map = *numbers.mutable_scatter_dims_to_operand_dims();
  map.erase(map.begin() + counted->coordinate);
  numbers.mutable_inserted_window_dims()->RemoveLast();
  const std::int64_t windows = numbers.update_window_dims_size() + 1;
  numbers.clear_update_window_dims();
  for (std::int64_t d = std::ssize(order) - windows; d < std::ssize(order); ++d) {
    numbers.add_update_window_dims(d);
  }
  numbers.set_index_vector_dim(indices->shape().rank() - 1);
  auto made = HloInstruction::CreateScatter(scatter.shape(), scatter.mutable_operand(0), indices,
                                            updates, scatter.to_apply(), numbers, false, false);
  made->set_metadata(scatter.metadata());
  return scatter.parent()->AddInstruction(std::move(made));
}

}  // namespace

Status widen_scatter_windows(xla::HloModule& module) {
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != HloOpcode::kScatter) continue;
      HloInstruction* made = instruction;
      while (HloInstruction* const wider = widened(*made)) made = wider;
      if (made != instruction) TFAOT_TRY(checked(instruction->ReplaceAllUsesWith(made)));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
