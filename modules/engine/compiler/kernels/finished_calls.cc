// SPDX-License-Identifier: Apache-2.0
// Passes over kernel calls that are there: they get the function of their results, operands as they
// lie, and aligned temporaries.
#include <algorithm>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/functions.h"
#include "compiler/kernels/kernel_facts.h"
#include "tfaot/kernels/abi.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr auto kPointerBytes = static_cast<std::int64_t>(sizeof(void*));

// XLA puts a table of pointers for each kernel call with scratch before all temporaries, 8 bytes
// for each result and a multiple of 16 for each table.
std::int64_t table_bytes(const HloInstruction& kernel) {
  constexpr std::int64_t kTableAlignment = 16;  // XLA's of all buffers
  const std::int64_t results = xla::ShapeUtil::TupleElementCount(kernel.shape());
  return xla::RoundUpTo(kPointerBytes * results, kTableAlignment);
}

// Gives a call more results, which nobody uses.
Status add_results(HloInstruction& kernel, std::int64_t count) {
  std::vector<xla::Shape> results = kernel.shape().tuple_shapes();
  for (; count > 0; --count) results.push_back(shape_of(xla::U8, {kLineBytes}));
  HloInstruction* const made =
      add_next_to(&kernel, kernel.CloneWithNewOperands(
                               xla::ShapeUtil::MakeTupleShape(results),
                               Instructions(kernel.operands().begin(), kernel.operands().end())));
  for (HloInstruction* user : Instructions(kernel.users())) {
    TFAOT_TRY(replace(*user, add_next_to(made, HloInstruction::CreateGetTupleElement(
                                                   user->shape(), made, user->tuple_index()))));
    TFAOT_TRY(checked(kernel.parent()->RemoveInstruction(user)));
  }
  return checked(kernel.parent()->RemoveInstruction(&kernel));
}

}  // namespace

Status absorb_function(HloInstruction& kernel, PassContext& /*context*/) {
  if (!is_kernel_call(kernel)) return {};
  HloInstruction* const first = only_user(kernel);
  const auto word = word_of_epilogue(kernel);
  if (first == nullptr || !word || !takes_function(kernel) ||
      first->opcode() != HloOpcode::kGetTupleElement || first->tuple_index() != 0) {
    return {};
  }
  std::vector<std::int64_t> words = call_words(kernel);
  if ((words.at(*word) & (kernels::kEpilogueRelu | kernels::kEpilogueFunction)) != 0) return {};
  const auto found = function_of(*after_reshapes(first));
  if (!found || found->function == kernels::kFunctionTanh) return {};
  words.at(*word) |= kernels::kEpilogueFunction;
  TFAOT_TRY(
      extend_kernel_call(kernel, words, words_next_to(&kernel, as_words(found->of_kernel()))));
  return replace(*found->result, first);
}

Status pass_before_reshapes(HloInstruction& kernel, PassContext& /*context*/) {
  if (!is_kernel_call(kernel)) return {};
  Instructions operands(kernel.operands().begin(), kernel.operands().end());
  for (HloInstruction*& operand : operands) operand = before_reshapes(operand);
  return std::ranges::equal(operands, kernel.operands()) ? Status()
                                                         : replace_operands(kernel, operands);
}

// Unless all tables together are a multiple of a cache line, each vector of a temporary lies in two
// lines, and kernels that read more than they compute take up to 1.4 times as long. Other tables,
// as those of loops, are not known here.
Status align_temporaries(xla::HloModule& module, PassContext& /*context*/) {
  std::int64_t bytes = 0;
  HloInstruction* last = nullptr;
  for (auto* computation : module.computations()) {
    for (auto* instruction : computation->instructions()) {
      if (!is_kernel_call(*instruction) || !instruction->shape().IsTuple()) continue;
      bytes += table_bytes(*instruction);
      if (!instruction->IsRoot()) last = instruction;
    }
  }
  const std::int64_t missing = xla::RoundUpTo(bytes, kLineBytes) - bytes;
  if (last == nullptr || missing == 0) return {};
  return add_results(*last, missing / kPointerBytes);
}

}  // namespace tfaot::toolkit::engine
