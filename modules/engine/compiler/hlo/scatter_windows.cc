// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/passes.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The indices of a scatter: for each place, one coordinate after the other. Used by one thread.
class PlaceTuples {
 public:
  // Nothing: coordinates are not the last dimension, or not made one by one.
  static std::optional<PlaceTuples> of(xla::HloInstruction& indices, std::int64_t index_vector_dim);

  // A dimension of at most `largest` places whose number is the coordinate, and along which no
  // other coordinate varies.
  std::optional<std::int64_t> counted_dimension(std::int64_t coordinate,
                                                std::int64_t largest) const;

  // Indices without a coordinate and the dimension that it counts.
  // REQUIRES: counted_dimension() of the coordinate, and another coordinate.
  xla::HloInstruction* without(std::int64_t coordinate, std::int64_t dimension) const;

 private:
  explicit PlaceTuples(std::vector<xla::HloInstruction*> coordinates)
      : coordinates_(std::move(coordinates)) {}

  std::vector<xla::HloInstruction*> coordinates_;  // the last dimension has one element
};

// The dimension of a reshape's operand that is this one of its result; nothing: it joins several.
std::optional<std::int64_t> dimension_before(const HloInstruction& reshape, std::int64_t d) {
  const auto sizes = reshape.operand(0)->shape().dimensions();
  for (const ReshapeGroup& group : groups_of(reshape)) {
    if (!absl::c_linear_search(group.to, d)) continue;
    const auto found =
        std::ranges::find_if(group.from, [&](std::int64_t f) { return entry(sizes, f) != 1; });
    if (found == group.from.end() ||
        entry(sizes, *found) != entry(reshape.shape().dimensions(), d)) {
      return std::nullopt;
    }
    return *found;
  }
  return std::nullopt;
}

// The dimension of a broadcast's operand that is this one of its result; nothing: it is new.
std::optional<std::int64_t> dimension_before_broadcast(const HloInstruction& broadcast,
                                                       std::int64_t d) {
  const auto dimensions = broadcast.dimensions();
  const auto found = std::ranges::find(dimensions, d);
  if (found == dimensions.end()) return std::nullopt;
  return found - dimensions.begin();
}

bool counts_along(const HloInstruction& value, std::int64_t d) {
  std::optional<std::int64_t> before;
  switch (value.opcode()) {
    case HloOpcode::kIota:
      return xla::Cast<xla::HloIotaInstruction>(&value)->iota_dimension() == d;
    case HloOpcode::kBroadcast:
      before = dimension_before_broadcast(value, d);
      break;
    case HloOpcode::kReshape:
      before = dimension_before(value, d);
      break;
    case HloOpcode::kConvert:
      before = d;
      break;
    case HloOpcode::kSlice:
      if (entry(value.slice_starts(), d) == 0 && entry(value.slice_strides(), d) == 1) before = d;
      break;
    default:
      return false;
  }
  return before && counts_along(*value.operand(0), *before);
}

bool varies_along(const HloInstruction& value, std::int64_t d) {
  if (entry(value.shape().dimensions(), d) == 1) return false;
  switch (value.opcode()) {
    case HloOpcode::kIota:
      return xla::Cast<xla::HloIotaInstruction>(&value)->iota_dimension() == d;
    case HloOpcode::kBroadcast: {
      const auto before = dimension_before_broadcast(value, d);
      return before && varies_along(*value.operand(0), *before);
    }
    case HloOpcode::kReshape: {
      const auto before = dimension_before(value, d);
      return !before || varies_along(*value.operand(0), *before);
    }
    case HloOpcode::kSlice:
      return varies_along(*value.operand(0), d);
    default:
      if (!value.IsElementwise() || value.operand_count() == 0 || value.HasSideEffect()) {
        return true;
      }
      return std::ranges::any_of(value.operands(), [d](const HloInstruction* operand) {
        return operand->shape().rank() > 0 && varies_along(*operand, d);
      });
  }
}

HloInstruction* first_along(HloInstruction* value, std::int64_t d) {
  Dimensions sizes = dimensions_of(*value);
  sizes.erase(sizes.begin() + d);
  return reshape(slice_along(value, d, 0, 1), sizes);
}

std::optional<PlaceTuples> PlaceTuples::of(HloInstruction& indices, std::int64_t index_vector_dim) {
  if (index_vector_dim != indices.shape().rank() - 1 ||
      indices.opcode() != HloOpcode::kConcatenate ||
      indices.concatenate_dimension() != index_vector_dim) {
    return std::nullopt;
  }
  const auto is_single = [](const HloInstruction* part) {
    return part->shape().dimensions().back() == 1;
  };
  if (!std::ranges::all_of(indices.operands(), is_single)) return std::nullopt;
  return PlaceTuples({indices.operands().begin(), indices.operands().end()});
}

std::optional<std::int64_t> PlaceTuples::counted_dimension(std::int64_t coordinate,
                                                           std::int64_t largest) const {
  const HloInstruction* const own = entry(coordinates_, coordinate);
  for (std::int64_t d = 0; d + 1 < own->shape().rank(); ++d) {
    if (entry(own->shape().dimensions(), d) > largest || !counts_along(*own, d)) continue;
    const bool others_vary = std::ranges::any_of(coordinates_, [&](const HloInstruction* other) {
      return other != own && varies_along(*other, d);
    });
    if (!others_vary) return d;
  }
  return std::nullopt;
}

HloInstruction* PlaceTuples::without(std::int64_t coordinate, std::int64_t dimension) const {
  Instructions parts;
  for (std::int64_t i = 0; i < std::ssize(coordinates_); ++i) {
    HloInstruction* const one = entry(coordinates_, i);
    if (i != coordinate) parts.push_back(first_along(one, dimension));
  }
  return concatenate(parts, parts.front()->shape().rank() - 1);
}

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
Dimensions update_order(const HloInstruction& scatter, const Counted& counted) {
  const auto& numbers = scatter.scatter_dimension_numbers();
  const auto& windows = numbers.update_window_dims();
  Dimensions places;
  for (std::int64_t d = 0; d < scatter.operand(2)->shape().rank(); ++d) {
    if (!absl::c_linear_search(windows, d)) places.push_back(d);
  }
  Dimensions order = places;
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
  if (scatter.opcode() != HloOpcode::kScatter) return nullptr;
  xla::ScatterDimensionNumbers numbers = scatter.scatter_dimension_numbers();
  if (scatter.operand_count() != 3 || numbers.input_batching_dims_size() != 0) return nullptr;
  const auto places = PlaceTuples::of(*scatter.mutable_operand(1), numbers.index_vector_dim());
  if (!places) return nullptr;
  const auto counted = find_counted(*places, scatter);
  if (!counted) return nullptr;
  const Dimensions order = update_order(scatter, *counted);
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
  return add_next_to(&scatter, std::move(made));
}

}  // namespace

Status widen_scatter_window(HloInstruction& scatter, PassContext& /*context*/) {
  HloInstruction* made = &scatter;
  while (HloInstruction* const wider = widened(*made)) made = wider;
  return made == &scatter ? Status() : replace(scatter, made);
}

}  // namespace tfaot::toolkit::engine
