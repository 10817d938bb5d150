// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/hlo/weight_values.h"
#include "compiler/kernels/gathered_parts.h"
#include "compiler/kernels/kernel_call.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr std::int64_t kMostParts = 64;  // of a call, whose struct grows with them

// True if XLA would compute the operand in the loop of the concatenation. The kernel would need it
// in memory, which costs as much as it gains.
bool is_fused_into_concatenation(HloInstruction* operand) {
  operand = before_own_reshapes(operand);
  return operand->user_count() == 1 &&
         (operand->IsElementwise() || operand->opcode() == HloOpcode::kBroadcast) &&
         operand->operand_count() > 0;
}

// The call of a kernel that gathers only for this operand; null: there is none.
HloInstruction* own_gather(HloInstruction* operand) {
  operand = before_own_reshapes(operand);
  const bool is_own = operand->user_count() == 1 && is_call_of(*operand, Kernel::kGather);
  return is_own ? operand : nullptr;
}

std::int64_t own_gathers(const HloInstruction& concatenate) {
  return std::ranges::count_if(concatenate.operands(), [](HloInstruction* operand) {
    return own_gather(operand) != nullptr;
  });
}

// The parts that one operand adds to each of `rows` rows.
std::vector<GatheredPart> parts_of(HloInstruction* operand, std::int64_t rows) {
  HloInstruction* const gather = own_gather(operand);
  const std::int64_t each =
      gather == nullptr ? 0 : call_of<kernels::GatherCall>(*gather).rows / rows;
  if (each == 0 || each > tuned().concatenation_most_rows_of_gather ||
      call_of<kernels::GatherCall>(*gather).rows % rows != 0) {
    return {part_in_order(operand, rows)};
  }
  std::vector<GatheredPart> parts;
  for (std::int64_t i = 0; i < each; ++i) {
    for (const kernels::GatherPart& of : gather_parts(*gather)) {
      GatheredPart& part = parts.emplace_back();
      part.of = of;
      part.x = gather->mutable_operand(of.x);
      if (of.place_type == kernels::kPlacesInOrder) {
        part.of.x_at += i * of.x_step;
        part.of.x_step *= each;
        part.of.x_rows = rows;
      } else {
        part.places = gather->mutable_operand(of.places);
        part.of.place_at += i * of.place_step;
        part.of.place_step *= each;
      }
    }
  }
  return parts;
}

}  // namespace

Status replace_concatenation(HloInstruction& concatenate, PassContext& context) {
  if (concatenate.opcode() != HloOpcode::kConcatenate || concatenate.operand_count() < 2 ||
      !is_for_kernels(concatenate) || context.values().is_known(&concatenate)) {
    return {};
  }
  const auto sizes = concatenate.shape().dimensions();
  const auto outer = static_cast<std::size_t>(concatenate.concatenate_dimension());
  const std::int64_t rows = product(sizes.subspan(0, outer));
  // XLA joins its loop of one row with those around it, which is faster but for calls that are
  // saved.
  if (rows == 1 && own_gathers(concatenate) < tuned().concatenation_fewest_gathers_of_one_row)
    return {};
  std::vector<GatheredPart> parts;
  std::int64_t made = 0;  // elements of a row that XLA would compute in place
  for (HloInstruction* operand : concatenate.operands()) {
    if (is_fused_into_concatenation(operand)) {
      made += xla::ShapeUtil::ElementsIn(operand->shape()) / rows;
    }
    if (xla::ShapeUtil::IsZeroElementArray(operand->shape())) continue;
    for (GatheredPart& part : parts_of(operand, rows)) parts.push_back(part);
  }
  const std::int64_t row = product(sizes.subspan(outer));
  if (std::ssize(parts) > kMostParts ||
      row < tuned().concatenation_fewest_per_part * std::ssize(parts) || 2 * made > row) {
    return {};
  }
  return replace(concatenate, add_gather(parts, dimensions_of(concatenate), concatenate));
}

}  // namespace tfaot::toolkit::engine
