// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/waiting_loops.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/loop.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/simplify.h"
#include "compiler/rows/row_flow.h"

namespace tfaot::toolkit::engine {
namespace {

// A dimension with the rows cut into [outer, rows, inner].
struct SplitShape {
  Dimensions sizes;
  std::int64_t rows = 0;  // which of them
};
// Nothing if there are no rows, or not in one place.
std::optional<SplitShape> split_rows(const xla::Shape& shape, const RowFact& fact) {
  std::optional<SplitShape> split;
  Dimensions sizes;
  for (std::size_t d = 0; d < fact.axes.size(); ++d) {
    const std::int64_t size = entry(shape.dimensions(), d);
    const auto place = row_place(fact.axes[d]);
    if (!place) {
      if (has_rows(fact.axes[d])) return std::nullopt;
      sizes.push_back(size);
      continue;
    }
    sizes.push_back(place->outer);
    split = SplitShape{{}, std::ssize(sizes)};
    sizes.push_back(size / place->outer / place->inner);
    sizes.push_back(place->inner);
  }
  if (split) split->sizes = std::move(sizes);
  return split;
}

// A number or truth value of the whole batch as a vector: for each row what it would be if the
// batch were that row. Adds to the computation of a RowFlow that was run.
class RowWise {
 public:
  // Elements of the loop's state that are such values: the elements with the vectors.
  using Flags = std::map<std::int64_t, std::int64_t>;

  RowWise(RowFlow& flow, std::int64_t rows, const Flags& flags)
      : flow_(flow), rows_(rows), flags_(flags) {}

  // `any`: it is true whenever that of one row is; else it is true only if those of all rows are.
  // Null: that is not known.
  HloInstruction* of(HloInstruction* one, bool any) {
    if (one->shape().rank() != 0) return nullptr;
    const RowFact& fact = flow_.of(one);
    if (fact.cause == nullptr) return engine::broadcast(one, {rows_}, {});
    switch (one->opcode()) {
      case kAnd:
      case kOr: {
        HloInstruction* const a = of(one->mutable_operand(0), any);
        HloInstruction* const b = of(one->mutable_operand(1), any);
        return a == nullptr || b == nullptr ? nullptr : binary(one->opcode(), a, b);
      }
      case kNot: {
        HloInstruction* const a = of(one->mutable_operand(0), !any);
        return a == nullptr ? nullptr : unary(kNot, a);
      }
      case kReduce:
        return reduced(*one, any ? kOr : kAnd);
      case kCompare:
        return compared(*one, any);
      case kGetTupleElement:
        return flag(*one);
      default:
        return nullptr;
    }
  }

 private:
  HloInstruction* flag(HloInstruction& element) const {
    const auto found = flags_.find(element.tuple_index());
    HloInstruction* const state = element.mutable_operand(0);
    if (found == flags_.end() || state->opcode() != kParameter) return nullptr;
    return element.AddInstruction(
        HloInstruction::CreateGetTupleElement(shape_of(xla::PRED, {rows_}), state, found->second));
  }

  HloInstruction* reduced(HloInstruction& one, HloOpcode wanted) {
    HloInstruction* const from = one.mutable_operand(0);
    const RowFact& fact = flow_.of(from);
    if (!combines_by(one, wanted) || fact.cause != nullptr) return nullptr;
    const auto split = split_rows(from->shape(), fact);
    if (!split) return nullptr;
    const Dimensions others = other_dimensions(std::ssize(split->sizes), {split->rows});
    return engine::reduce(engine::reshape(from, split->sizes), one.mutable_operand(1), others,
                          one.to_apply());
  }

  // The largest number of all rows is above a bound if that of one row is.
  HloInstruction* compared(HloInstruction& one, bool any) {
    const bool is_left = flow_.of(one.operand(0)).cause != nullptr;
    if (is_left == (flow_.of(one.operand(1)).cause != nullptr)) return nullptr;
    const auto direction = one.comparison_direction();
    const bool is_above =
        direction == xla::ComparisonDirection::kGt || direction == xla::ComparisonDirection::kGe;
    const bool is_below =
        direction == xla::ComparisonDirection::kLt || direction == xla::ComparisonDirection::kLe;
    HloInstruction* const number = one.mutable_operand(is_left ? 0 : 1);
    if ((!is_above && !is_below) || number->opcode() != kReduce) return nullptr;
    const bool any_above = (is_above == is_left) == any;
    HloInstruction* const each = reduced(*number, any_above ? kMaximum : kMinimum);
    if (each == nullptr) return nullptr;
    HloInstruction* const bound =
        engine::broadcast(one.mutable_operand(is_left ? 1 : 0), {rows_}, {});
    return is_left ? engine::compare(each, direction, bound)
                   : engine::compare(bound, direction, each);
  }

  RowFlow& flow_;
  std::int64_t rows_;
  const Flags& flags_;
};

class WaitingLoop {
 public:
  WaitingLoop(HloInstruction& loop, const RowFact& state, RowFlow& outside)
      : loop_(loop), state_(state), outside_(outside), rows_(outside.study().batch()) {}

  // False: more of a row depends on others than how long the loop goes on.
  Result<bool> freeze() {
    xla::HloComputation* const condition = clone(*loop_.while_condition());
    xla::HloComputation* const body = clone(*loop_.while_body());
    RowFlow in_condition(outside_.study());
    in_condition.run(*condition, {state_});
    RowFlow in_body(outside_.study());
    in_body.run(*body, {state_});
    find_flags(*condition->root_instruction(), true, in_condition);
    // The state, a vector for each flag, and for each row whether it goes on.
    std::vector<xla::Shape> shapes = loop_.shape().tuple_shapes();
    shapes.resize(shapes.size() + flags_.size() + 1, row_vector());
    shape_ = xla::ShapeUtil::MakeTupleShape(shapes);
    HloInstruction* const before = widen_state(*condition);
    HloInstruction* const state = widen_state(*body);
    if (before == nullptr || state == nullptr) return false;
    HloInstruction* const goes_on =
        RowWise(in_condition, rows_, vectors_).of(condition->root_instruction(), true);
    if (goes_on == nullptr) return false;
    condition->set_root_instruction(goes_on, /*accept_different_shape=*/true);
    HloInstruction* const next = next_state(*state, in_body, *condition);
    HloInstruction* const first = first_state(*condition);
    if (next == nullptr || first == nullptr) return false;
    body->set_root_instruction(next, /*accept_different_shape=*/true);
    TFAOT_TRY(replace(*first, *body));
    return true;
  }

 private:
  struct Flag {
    std::int64_t element = 0;
    bool is_any = true;
  };

  xla::HloComputation* clone(xla::HloComputation& one) const {
    return loop_.GetModule()->AddEmbeddedComputation(one.Clone("rows"));
  }

  // Truth values of the state that the rows together decide.
  void find_flags(const HloInstruction& one, bool is_any, RowFlow& flow) {
    if (xla::Match(&one, m::GetTupleElement(m::Parameter())) && one.shape().rank() == 0 &&
        flow.of(&one).cause != nullptr) {
      if (vectors_.contains(one.tuple_index())) return;
      vectors_[one.tuple_index()] = elements() + std::ssize(flags_);
      flags_.push_back({one.tuple_index(), is_any});
    }
    if (!xla::HloPredicateIsOp<kAnd, kOr, kNot, kCopy>(&one)) return;
    for (const auto* operand : one.operands()) {
      find_flags(*operand, is_any != (one.opcode() == kNot), flow);
    }
  }

  HloInstruction* widen_state(xla::HloComputation& computation) const {
    HloInstruction* const old = computation.parameter_instruction(0);
    if (computation.root_instruction() == old || !is_taken_apart(*old)) return nullptr;
    return computation.ReplaceParameter(
        0, HloInstruction::CreateParameter(0, shape_, std::string(old->name())));
  }

  // The vectors of a state's flags; false: one is not known.
  bool add_flags(HloInstruction& state, RowWise each, Instructions& values) const {
    for (const Flag& flag : flags_) {
      values.push_back(each.of(state.mutable_operand(flag.element), flag.is_any));
      if (values.back() == nullptr) return false;
    }
    return true;
  }

  HloInstruction* next_state(HloInstruction& state, RowFlow& flow, xla::HloComputation& condition) {
    HloInstruction* const root = state.parent()->root_instruction();
    if (root->opcode() != kTuple) return nullptr;
    HloInstruction* const alive = element_of(&state, elements() + std::ssize(flags_));
    Instructions next = operands_of(*root);
    if (!add_flags(*root, RowWise(flow, rows_, vectors_), next)) return nullptr;
    next.push_back(alive);
    HloInstruction* const goes_on = call(condition, tuple_of(next));
    for (std::int64_t i = 0; i + 1 < std::ssize(next); ++i) {
      HloInstruction*& value = entry(next, i);
      HloInstruction* const spread = for_elements(alive, i);
      if (spread == nullptr) continue;
      value = select(spread, value, element_of(&state, i));
    }
    next.back() = binary(kAnd, alive, goes_on);
    return tuple_of(next);
  }

  // Null: a row needs no other value of this element.
  HloInstruction* for_elements(HloInstruction* alive, std::int64_t i) const {
    if (i >= elements()) return alive;
    const xla::Shape& shape = shape_.tuple_shapes(static_cast<int>(i));
    const RowFact& fact = entry(state_.elements, i);
    if (!shape.IsArray() || fact.cause != nullptr) return nullptr;
    const auto split = split_rows(shape, fact);
    if (!split) return nullptr;
    return engine::reshape(engine::broadcast(alive, split->sizes, {split->rows}),
                           shape.dimensions());
  }

  HloInstruction* first_state(xla::HloComputation& condition) {
    HloInstruction* const given = loop_.mutable_operand(0);
    if (given->opcode() != kTuple) return nullptr;
    Instructions first = operands_of(*given);
    if (!add_flags(*given, RowWise(outside_, rows_, kNoVectors), first)) return nullptr;
    first.push_back(engine::broadcast(scalar_next_to(given, xla::PRED, 1), {rows_}, {}));
    first.back() = call(condition, tuple_of(first));
    return tuple_of(first);
  }

  Status replace(HloInstruction& first, xla::HloComputation& body) {
    xla::HloComputation::Builder builder("any_row_goes_on");
    HloInstruction* const state =
        builder.AddInstruction(HloInstruction::CreateParameter(0, shape_, "state"));
    xla::HloComputation* const any = loop_.GetModule()->AddEmbeddedComputation(builder.Build());
    HloInstruction* const alive = element_of(state, elements() + std::ssize(flags_));
    any->set_root_instruction(engine::reduce(alive, scalar_next_to(alive, xla::PRED, 0), {0}, kOr),
                              /*accept_different_shape=*/true);
    xla::HloComputation& outside = *loop_.parent();
    HloInstruction* const loop =
        outside.AddInstruction(HloInstruction::CreateWhile(shape_, any, &body, &first));
    loop->set_metadata(loop_.metadata());
    Instructions results;
    for (std::int64_t i = 0; i < elements(); ++i) results.push_back(element_of(loop, i));
    return checked(loop_.ReplaceAllUsesWith(tuple_of(results)));
  }

  HloInstruction* call(xla::HloComputation& condition, HloInstruction* state) const {
    return state->AddInstruction(HloInstruction::CreateCall(row_vector(), {state}, &condition));
  }
  xla::Shape row_vector() const { return shape_of(xla::PRED, {rows_}); }
  std::int64_t elements() const { return loop_.shape().tuple_shapes_size(); }

  static inline const RowWise::Flags kNoVectors;
  HloInstruction& loop_;
  const RowFact& state_;
  RowFlow& outside_;
  std::int64_t rows_;
  std::vector<Flag> flags_;
  RowWise::Flags vectors_;
  xla::Shape shape_;
};

// True if there was one that can be.
Result<bool> freeze_one(xla::HloModule& module, std::int64_t inputs, std::int64_t rows) {
  const RowSizes sizes;
  RowStudy study(rows, sizes);
  RowFlow flow(study);
  xla::HloComputation& entry = *module.entry_computation();
  flow.run(entry, row_arguments(entry, inputs, rows));
  for (HloInstruction* loop : entry.MakeInstructionPostOrder()) {
    const RowFact* const state = study.waiting(*loop);
    if (state == nullptr) continue;
    TFAOT_ASSIGN(const bool frozen, WaitingLoop(*loop, *state, flow).freeze());
    if (!frozen) continue;
    TFAOT_TRY(inline_calls(module, Calls::kPlain));
    TFAOT_TRY(remove_dead_code(module));
    return true;
  }
  return false;
}

class FrozenRows final : public Lowering {
 public:
  explicit FrozenRows(std::unique_ptr<Lowering> inner) : inner_(std::move(inner)) {
    weights_ = inner_->weights();
  }

  Result<LoweredModel> lower(std::int64_t batch_size) const override {
    TFAOT_ASSIGN(LoweredModel lowered, inner_->lower(batch_size));
    if (batch_size == 1 || !has_loop(lowered.computation.proto())) return lowered;
    TFAOT_ASSIGN(const auto module, make_module(lowered.computation.proto()));
    TFAOT_TRY(inline_calls(*module, Calls::kPlain));
    TFAOT_ASSIGN(const bool changed,
                 freeze_done_rows(*module, std::ssize(lowered.inputs), batch_size));
    if (changed) lowered.computation = xla::XlaComputation(module->ToProto());
    return lowered;
  }

  bool has_fixed_batch() const override { return inner_->has_fixed_batch(); }

 private:
  static bool has_loop(const xla::HloModuleProto& module) {
    return std::ranges::any_of(module.computations(), [](const auto& computation) {
      return std::ranges::any_of(computation.instructions(),
                                 [](const auto& one) { return one.opcode() == "while"; });
    });
  }

  std::unique_ptr<Lowering> inner_;
};

}  // namespace

std::unique_ptr<Lowering> with_frozen_rows(std::unique_ptr<Lowering> lowering) {
  return std::make_unique<FrozenRows>(std::move(lowering));
}

Result<bool> freeze_done_rows(xla::HloModule& module, std::int64_t inputs, std::int64_t rows) {
  const auto is_loop = [](const auto* one) { return one->opcode() == kWhile; };
  const auto& all = module.entry_computation()->instructions();
  bool changed = false;
  for (auto loops = absl::c_count_if(all, is_loop); loops > 0; --loops) {
    TFAOT_ASSIGN(const bool frozen, freeze_one(module, inputs, rows));
    if (!frozen) break;
    changed = true;
  }
  TFAOT_TRY(remove_dead_code(module));
  return changed;
}

}  // namespace tfaot::toolkit::engine
