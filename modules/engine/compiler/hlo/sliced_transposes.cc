// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/hlo/build.h"
#include "compiler/hlo/passes.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// True if `value` is part `part` of `parts` equal ones of a dimension of x, and all of the others.
bool is_equal_part(const HloInstruction& value, const HloInstruction* x, std::int64_t dimension,
                   std::int64_t part, std::int64_t parts) {
  if (value.opcode() != HloOpcode::kSlice || value.operand(0) != x) return false;
  for (std::int64_t d = 0; d < x->shape().rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t all = x->shape().dimensions(static_cast<int>(d));
    const std::int64_t count = d == dimension ? all / parts : all;
    const std::int64_t start = d == dimension ? part * count : 0;
    if (value.slice_strides()[at] != 1 || value.slice_starts()[at] != start ||
        value.slice_limits()[at] != start + count) {
      return false;
    }
  }
  return true;
}

// The dimension of whose equal parts `joined` consists, one after the other along another
// dimension; -1: none.
std::int64_t sliced_dimension(const HloInstruction& joined) {
  const std::int64_t parts = joined.operand_count();
  const HloInstruction& first = *joined.operand(0);
  if (joined.opcode() != HloOpcode::kConcatenate || parts < 2 ||
      first.opcode() != HloOpcode::kSlice) {
    return -1;
  }
  const HloInstruction* const x = first.operand(0);
  for (std::int64_t d = 0; d < x->shape().rank(); ++d) {
    if (d == joined.concatenate_dimension() ||
        x->shape().dimensions(static_cast<int>(d)) % parts != 0) {
      continue;
    }
    std::int64_t part = 0;
    while (part < parts && is_equal_part(*joined.operand(part), x, d, part, parts)) ++part;
    if (part == parts) return d;
  }
  return -1;
}

bool is_for_products(const HloInstruction& value) {
  return !value.IsRoot() && value.user_count() > 0 &&
         std::ranges::all_of(value.users(), [](const HloInstruction* user) {
           return user->opcode() == HloOpcode::kDot;
         });
}

// The same as a transpose: its parts have a dimension of their own before the one along which they
// are joined.
HloInstruction* as_transpose(HloInstruction& joined, std::int64_t split) {
  HloInstruction* const x = joined.mutable_operand(0)->mutable_operand(0);
  const std::int64_t parts = joined.operand_count();
  Dimensions sizes = dimensions_of(*x);
  sizes[static_cast<std::size_t>(split)] /= parts;
  sizes.insert(sizes.begin() + split, parts);
  Dimensions order;
  for (std::int64_t d = 0; d < x->shape().rank(); ++d) {
    if (d == joined.concatenate_dimension()) order.push_back(split);
    order.push_back(d < split ? d : d + 1);
  }
  return transpose(reshape(x, sizes), order);
}

}  // namespace

Status restore_sliced_transpose(HloInstruction& joined, PassContext& /*context*/) {
  if (joined.opcode() != HloOpcode::kConcatenate || joined.IsRoot()) return {};
  const std::int64_t split = sliced_dimension(joined);
  const bool is_read_by_strides =
      split >= 0 && std::ranges::all_of(joined.users(), [](const HloInstruction* user) {
        return user->opcode() == HloOpcode::kDot ||
               (user->opcode() == HloOpcode::kReshape && is_for_products(*user));
      });
  if (!is_read_by_strides) return {};
  HloInstruction* const transposed = as_transpose(joined, split);
  for (HloInstruction* user : Instructions(joined.users())) {
    // A reshape of a reshape hides which dimensions are whole.
    if (user->opcode() == HloOpcode::kReshape) TFAOT_TRY(replace(*user, transposed));
  }
  return replace(joined, transposed);
}

}  // namespace tfaot::toolkit::engine
