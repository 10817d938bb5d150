// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/gathered_parts.h"
#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The terms of a sum; nothing else uses what is between.
void take_terms(HloInstruction* value, std::vector<HloInstruction*>& terms) {
  HloInstruction* const inner = before_own_reshapes(value);
  if (inner->opcode() != HloOpcode::kAdd || inner->user_count() != 1) {
    terms.push_back(inner);
    return;
  }
  for (HloInstruction* operand : inner->operands()) take_terms(operand, terms);
}

bool is_gather_of_rows(const HloInstruction& term) {
  return is_call_of(term, Kernel::kGather) && term.user_count() == 1 &&
         call_of<kernels::GatherCall>(term).parts == 1;
}

// Each row several times: dimensions of the operand in one block, without its last one, which has
// new ones on both sides. Nothing for other broadcasts.
std::optional<GatheredPart> part_of_broadcast(HloInstruction& broadcast) {
  if (broadcast.opcode() != HloOpcode::kBroadcast) return {};
  HloInstruction* const x = broadcast.mutable_operand(0);
  const auto kept = broadcast.dimensions();
  const std::int64_t last = broadcast.shape().rank() - 1;
  if (kept.empty() || kept.back() != last) return {};
  GatheredPart part{x};
  kernels::GatherPart& of = part.of;
  of.place_type = kernels::kPlacesRepeated;
  of.elements = of.x_step = x->shape().dimensions().back();
  of.x_rows = xla::ShapeUtil::ElementsIn(x->shape()) / of.elements;
  of.place_step = of.place_at = of.places = 1;
  // From the last dimension but one to the first: new ones, kept ones, new ones, kept ones.
  enum { kEach, kRows, kBlocks, kAllBlocks } at = kEach;
  for (std::int64_t d = last - 1; d >= 0; --d) {
    const std::int64_t size = broadcast.shape().dimensions(static_cast<int>(d));
    if (size == 1) continue;
    const bool is_kept = std::ranges::find(kept, d) != kept.end();
    if (is_kept && (at == kEach || at == kBlocks)) at = at == kEach ? kRows : kAllBlocks;
    if (!is_kept && at == kRows) at = kBlocks;
    if (!is_kept && at == kAllBlocks) return {};
    if (at == kEach) of.place_step *= size;
    if (at == kRows) of.place_at *= size;
    if (at == kBlocks) of.places *= size;
  }
  return part;
}

// True if XLA would compute it in the loop of the sum.
bool is_fused_into_sum_loop(const HloInstruction& term) {
  return (term.IsElementwise() && term.operand_count() > 0) ||
         term.opcode() == HloOpcode::kBroadcast;
}

struct AddedRows {
  std::vector<GatheredPart> parts;
  bool has_gather = false;
};

std::optional<AddedRows> added_rows(const std::vector<HloInstruction*>& terms) {
  AddedRows added;
  std::int64_t row = 0;
  std::vector<HloInstruction*> whole;
  for (HloInstruction* term : terms) {
    if (is_gather_of_rows(*term)) {
      GatheredPart& part = added.parts.emplace_back();
      part.of = gather_parts(*term).front();
      part.x = term->mutable_operand(part.of.x);
      if (part.of.place_type != kernels::kPlacesInOrder) {
        part.places = term->mutable_operand(part.of.places);
      }
      added.has_gather = true;
    } else if (const auto part = part_of_broadcast(*term)) {
      added.parts.push_back(*part);
    } else {
      if (is_fused_into_sum_loop(*term)) return {};
      whole.push_back(term);
    }
  }
  for (const GatheredPart& part : added.parts) {
    if (row != 0 && part.of.elements != row) return {};
    row = part.of.elements;
  }
  if (row < tuned().add_rows_fewest_elements || !added.has_gather) return {};
  for (HloInstruction* term : whole) {
    added.parts.push_back(part_in_order(term, elements_of(*term) / row));
  }
  return added;
}

Status replace_sum_of_rows(HloInstruction& result) {
  HloInstruction* rectified = nullptr;
  const bool has_relu = xla::Match(&result, m::MaximumAnyOrder(m::Op(&rectified), number_equal(0)));
  if (!has_relu && result.opcode() != HloOpcode::kAdd) return {};
  Instructions terms;
  if (has_relu) {
    take_terms(rectified, terms);
  } else {
    for (HloInstruction* operand : result.operands()) take_terms(operand, terms);
  }
  if (terms.size() < 2 || std::ssize(terms) > kernels::kMostAddedRows) return {};
  const auto added = added_rows(terms);
  if (!added) return {};
  kernels::AddRowsCall call{};
  call.row = added->parts.front().of.elements;
  call.rows = elements_of(result) / call.row;
  call.parts = std::ssize(added->parts);
  call.relu = has_relu ? 1 : 0;
  return replace(result,
                 add_call_of_parts({Kernel::kAddRows, as_words(call), {}, dimensions_of(result)},
                                   added->parts, result));
}

}  // namespace

Status replace_added_rows(xla::HloModule& module, PassContext& /*context*/) {
  for (auto* computation : module.MakeComputationPostOrder()) {
    // A relu before its sum, a sum before its terms.
    Instructions order = computation->MakeInstructionPostOrder();
    std::ranges::reverse(order);
    for (auto* instruction : order) {
      const bool is_used = instruction->user_count() > 0 || instruction->IsRoot();
      if (is_used && is_for_kernels(*instruction)) TFAOT_TRY(replace_sum_of_rows(*instruction));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
