// SPDX-License-Identifier: Apache-2.0
#include "hlo/joined_slices.h"

#include <algorithm>
#include <optional>

#include "hlo/simplify.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Of several matrices each: those with a weight may need the copy.
bool is_for_products(const HloInstruction& value) {
  return value.user_count() > 0 && std::ranges::all_of(value.users(), [](const auto* user) {
           return (user->opcode() == HloOpcode::kDot &&
                   user->dot_dimension_numbers().lhs_batch_dimensions_size() > 0) ||
                  (user->opcode() == HloOpcode::kReshape && is_for_products(*user));
         });
}

// The dimension that slices cut into equal parts, in order and without a rest; nothing for others.
std::optional<std::int64_t> dimension_of_cuts(absl::Span<HloInstruction* const> slices) {
  const HloInstruction& first = *slices.front();
  if (first.opcode() != HloOpcode::kSlice) return {};
  const HloInstruction* const x = first.operand(0);
  std::optional<std::int64_t> cut;
  for (std::int64_t d = 0; d < x->shape().rank(); ++d) {
    if (first.shape().dimensions(static_cast<int>(d)) == x->shape().dimensions(static_cast<int>(d)))
      continue;
    if (cut) return {};
    cut = d;
  }
  if (!cut) return {};
  const auto at = static_cast<std::size_t>(*cut);
  const std::int64_t size = first.shape().dimensions(static_cast<int>(*cut));
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const HloInstruction& slice = *slices[i];
    if (slice.opcode() != HloOpcode::kSlice || slice.operand(0) != x ||
        slice.shape() != first.shape() || slice.slice_strides()[at] != 1 ||
        slice.slice_starts()[at] != static_cast<std::int64_t>(i) * size) {
      return {};
    }
  }
  if (std::ssize(slices) * size != x->shape().dimensions(static_cast<int>(*cut))) return {};
  return cut;
}

// Leaves out dimensions of one element.
void drop_ones(Dimensions& sizes, Dimensions& order) {
  for (std::int64_t d = std::ssize(sizes); d-- > 0;) {
    if (sizes[static_cast<std::size_t>(d)] != 1) continue;
    sizes.erase(sizes.begin() + d);
    std::erase(order, d);
    for (std::int64_t& other : order) other -= other > d ? 1 : 0;
  }
}

Status transpose_instead(HloInstruction& joined) {
  const auto cut = dimension_of_cuts(joined.operands());
  const std::int64_t to = joined.concatenate_dimension();
  if (!cut || *cut == to) return {};
  HloInstruction* const x = joined.mutable_operand(0)->mutable_operand(0);
  const auto parts = static_cast<std::int64_t>(joined.operand_count());
  // The dimension of the parts comes before the one that is cut.
  Dimensions sizes = dimensions_of(*x);
  sizes[static_cast<std::size_t>(*cut)] /= parts;
  sizes.insert(sizes.begin() + *cut, parts);
  Dimensions order;
  for (std::int64_t d = 0; d < x->shape().rank(); ++d) {
    if (d == to) order.push_back(*cut);
    order.push_back(d < *cut ? d : d + 1);
  }
  drop_ones(sizes, order);
  HloInstruction* const made = transpose(reshape(x, sizes), order);
  // Of reshapes in a row none stays if the last one only joined or parted dimensions.
  for (HloInstruction* user : std::vector<HloInstruction*>(joined.users())) {
    if (user->opcode() == HloOpcode::kReshape) {
      TFAOT_TRY(checked(user->ReplaceAllUsesWith(reshape(made, user->shape().dimensions()))));
    }
  }
  return checked(joined.ReplaceAllUsesWith(reshape(made, joined.shape().dimensions())));
}

}  // namespace

Status transpose_joined_slices(xla::HloModule& module) {
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() == HloOpcode::kConcatenate && instruction->operand_count() > 1 &&
          is_for_products(*instruction)) {
        TFAOT_TRY(transpose_instead(*instruction));
      }
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
