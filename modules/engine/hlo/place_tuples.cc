// SPDX-License-Identifier: Apache-2.0
#include "hlo/place_tuples.h"

#include <algorithm>

#include "hlo/dimension_order.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The dimension of a reshape's operand that is this one of its result; nothing: it is made of
// several.
std::optional<std::int64_t> dimension_before(const HloInstruction& reshape, std::int64_t d) {
  const auto sizes = reshape.operand(0)->shape().dimensions();
  for (const ReshapeGroup& group : groups_of(reshape)) {
    if (std::ranges::count(group.to, d) == 0) continue;
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
  entry(sizes, d) = 1;
  HloInstruction* const first = value->parent()->AddInstruction(
      HloInstruction::CreateSlice(shape_of(value->shape().element_type(), sizes), value,
                                  Dimensions(sizes.size(), 0), sizes, Dimensions(sizes.size(), 1)));
  sizes.erase(sizes.begin() + d);
  return reshape(first, sizes);
}

}  // namespace

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
  const HloInstruction* const own = coordinates_[static_cast<std::size_t>(coordinate)];
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
  std::vector<HloInstruction*> parts;
  for (std::int64_t i = 0; i < std::ssize(coordinates_); ++i) {
    HloInstruction* const one = coordinates_[static_cast<std::size_t>(i)];
    if (i != coordinate) parts.push_back(first_along(one, dimension));
  }
  if (parts.size() == 1) return parts.front();
  Dimensions sizes = dimensions_of(*parts.front());
  sizes.back() = std::ssize(parts);
  return parts.front()->parent()->AddInstruction(HloInstruction::CreateConcatenate(
      shape_of(parts.front()->shape().element_type(), sizes), parts, std::ssize(sizes) - 1));
}

}  // namespace tfaot::toolkit::engine
