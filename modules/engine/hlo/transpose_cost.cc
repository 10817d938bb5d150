// SPDX-License-Identifier: Apache-2.0
#include "hlo/transpose_cost.h"

#include <algorithm>

#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A product with a weight reads a transposed left side by its strides.
bool is_read_by_strides(const HloInstruction& transpose, const WeightValues& values) {
  return std::ranges::all_of(transpose.users(), [&](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kDot && user->operand(0) == &transpose &&
           values.is_known(user->operand(1));
  });
}

}  // namespace

bool moves_elements(const xla::Shape& shape, absl::Span<const std::int64_t> order) {
  std::int64_t last = -1;
  for (const std::int64_t d : order) {
    if (shape.dimensions(static_cast<int>(d)) == 1) continue;
    if (d < last) return true;
    last = d;
  }
  return false;
}

TransposeCost cost_of_transposes(const xla::HloModule& module, std::int64_t first_weight,
                                 bool reads_strides) {
  const WeightValues values(module, first_weight);
  TransposeCost cost;
  for (const auto* computation : module.computations()) {
    for (const auto* instruction : computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kTranspose || values.is_known(instruction) ||
          !moves_elements(instruction->operand(0)->shape(), instruction->dimensions()) ||
          (reads_strides && is_read_by_strides(*instruction, values))) {
        continue;
      }
      cost.bytes += xla::ShapeUtil::ByteSizeOf(instruction->shape());
      const bool is_used = instruction->user_count() > 0;
      if (is_used && instruction->operand(0)->opcode() == HloOpcode::kConvolution) {
        ++cost.after_convolutions;
      }
    }
  }
  return cost;
}

}  // namespace tfaot::toolkit::engine
