// SPDX-License-Identifier: Apache-2.0
#include "hlo/loop.h"

#include <algorithm>

#include "xla/service/while_loop_analysis.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;
using xla::HloOpcode;

std::optional<std::int64_t> loop_turns(const HloInstruction& loop) {
  const auto turns = xla::ComputeWhileLoopTripCount(&loop);
  return turns ? std::make_optional(*turns) : std::nullopt;
}

std::optional<Loop> Loop::of(HloInstruction& loop) {
  if (loop.opcode() != HloOpcode::kWhile) return std::nullopt;
  const HloInstruction& root = *loop.while_body()->root_instruction();
  const HloInstruction& state = *loop.while_body()->parameter_instruction(0);
  const bool is_taken_apart = std::ranges::all_of(state.users(), [](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kGetTupleElement;
  });
  if (root.opcode() != HloOpcode::kTuple || !is_taken_apart) return std::nullopt;
  return Loop(loop);
}

HloInstruction* Loop::start(std::int64_t element) const {
  HloInstruction* const all = loop_->mutable_operand(0);
  if (all->opcode() == HloOpcode::kTuple) return all->mutable_operand(element);
  return loop_->parent()->AddInstruction(HloInstruction::CreateGetTupleElement(all, element));
}

std::optional<std::int64_t> Loop::element(const HloInstruction& inside) const {
  if (inside.opcode() != HloOpcode::kGetTupleElement ||
      inside.operand(0) != body().parameter_instruction(0)) {
    return std::nullopt;
  }
  return inside.tuple_index();
}

bool Loop::is_passed_on(std::int64_t element) const {
  return this->element(*next(element)) == element;
}

bool Loop::is_fixed(const HloInstruction& inside) {
  const auto found = fixed_.find(&inside);
  if (found != fixed_.end()) return found->second;
  return fixed_[&inside] = find_fixed(inside);
}

bool Loop::find_fixed(const HloInstruction& inside) {
  if (const auto which = element(inside)) return is_passed_on(*which);
  if (!inside.shape().IsArray() || inside.opcode() == HloOpcode::kParameter ||
      inside.opcode() == HloOpcode::kRng || inside.opcode() == HloOpcode::kGetTupleElement ||
      !inside.called_computations().empty() || inside.HasSideEffect()) {
    return false;
  }
  return std::ranges::all_of(inside.operands(),
                             [this](const HloInstruction* operand) { return is_fixed(*operand); });
}

HloInstruction* Loop::outside(HloInstruction& inside) {
  const auto found = outside_.find(&inside);
  if (found != outside_.end()) return found->second;
  if (const auto which = element(inside)) return outside_[&inside] = start(*which);
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : inside.operands()) operands.push_back(outside(*operand));
  return outside_[&inside] =
             loop_->parent()->AddInstruction(inside.CloneWithNewOperands(inside.shape(), operands));
}

}  // namespace tfaot::toolkit::engine
