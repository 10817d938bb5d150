// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/loop.h"

#include <algorithm>

#include "compiler/hlo/build.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/service/while_loop_analysis.h"

namespace tfaot::toolkit::engine {
namespace {

bool is_whole_number(const HloInstruction& value) {
  return value.shape().IsArray() && product(value.shape().dimensions()) == 1 &&
         (xla::primitive_util::IsIntegralType(value.shape().element_type()) ||
          value.shape().element_type() == xla::PRED);
}

// Nothing for an unsigned number that is too large.
std::optional<std::int64_t> number_in(const xla::LiteralBase& value) {
  if (value.shape().element_type() == xla::PRED) return value.GetFirstElement<bool>() ? 1 : 0;
  return value.GetFirstInteger();
}

std::optional<std::int64_t> constant_number(const HloInstruction& value) {
  if (value.opcode() != kConstant || !is_whole_number(value)) return std::nullopt;
  return number_in(value.literal());
}

}  // namespace

std::optional<std::int64_t> loop_turns(const HloInstruction& loop) {
  const auto turns = xla::ComputeWhileLoopTripCount(&loop);
  return turns ? std::make_optional(*turns) : std::nullopt;
}

bool is_taken_apart(const HloInstruction& tuple) {
  return std::ranges::all_of(
      tuple.users(), [](const HloInstruction* user) { return user->opcode() == kGetTupleElement; });
}

std::optional<Loop> Loop::of(HloInstruction& loop) {
  if (loop.opcode() != kWhile) return std::nullopt;
  const HloInstruction& root = *loop.while_body()->root_instruction();
  const HloInstruction& state = *loop.while_body()->parameter_instruction(0);
  if (root.opcode() != kTuple || !is_taken_apart(state)) return std::nullopt;
  return Loop(loop);
}

HloInstruction* Loop::start(std::int64_t element) const {
  HloInstruction* const all = loop_->mutable_operand(0);
  if (all->opcode() == kTuple) return all->mutable_operand(element);
  return element_of(all, element);
}

std::optional<std::int64_t> Loop::element(const HloInstruction& inside) const {
  if (inside.opcode() != kGetTupleElement || inside.operand(0) != body().parameter_instruction(0)) {
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
  if (!inside.shape().IsArray() || inside.opcode() == kParameter || inside.opcode() == kRng ||
      inside.opcode() == kGetTupleElement || !inside.called_computations().empty() ||
      inside.HasSideEffect()) {
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

std::optional<Progression> LoopNumbers::counter(std::int64_t element) const {
  const HloInstruction& next = *loop_.next(element);
  const auto first = constant_number(*loop_.start(element));
  if (!first || next.opcode() != kAdd) return std::nullopt;
  for (const int i : {0, 1}) {
    const auto step = constant_number(*next.operand(1 - i));
    if (step && loop_.element(*next.operand(i)) == element) return Progression{*first, *step};
  }
  return std::nullopt;
}

std::optional<Progression> LoopNumbers::progression(const HloInstruction& number) const {
  const auto first = at(number, 0);
  const auto second = at(number, std::min<std::int64_t>(1, turns_ - 1));
  if (!first || !second) return std::nullopt;
  const Progression found{*first, *second - *first};
  for (std::int64_t turn = 2; turn < turns_; ++turn) {
    if (at(number, turn) != found.first + turn * found.step) return std::nullopt;
  }
  return found;
}

std::optional<std::int64_t> LoopNumbers::at(const HloInstruction& number, std::int64_t turn) const {
  if (!is_whole_number(number)) return std::nullopt;
  if (const auto known = constant_number(number)) return known;
  if (const auto element = loop_.element(number)) {
    if (loop_.is_passed_on(*element)) return constant_number(*loop_.start(*element));
    const auto counted = counter(*element);
    if (!counted) return std::nullopt;
    return counted->first + turn * counted->step;
  }
  const bool is_alone = (number.IsElementwise() || number.opcode() == kReshape) &&
                        !xla::HloPredicateIsOp<kMap, kRng>(&number);
  if (!is_alone || number.operand_count() == 0) return std::nullopt;
  std::vector<Value> operands;
  for (const HloInstruction* operand : number.operands()) {
    const auto value = at(*operand, turn);
    if (!value) return std::nullopt;
    auto scalar = xla::LiteralUtil::CreateR0(*value).Convert(type_of(*operand));
    if (!scalar.ok()) return std::nullopt;
    operands.push_back(std::make_shared<const xla::Literal>(*std::move(scalar)));
  }
  const auto value = evaluator_.compute_on(number, shape_of(type_of(number), {}), operands);
  return value ? number_in(**value) : std::nullopt;
}

}  // namespace tfaot::toolkit::engine
