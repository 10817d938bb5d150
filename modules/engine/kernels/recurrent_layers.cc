// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent_layers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "hlo/loop_numbers.h"
#include "kernels/gate_sums.h"
#include "kernels/kernel_call.h"
#include "kernels/packing.h"
#include "tfaot/kernels/abi.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

HloInstruction& under_reshapes(HloInstruction& value) {
  return value.opcode() == HloOpcode::kReshape ? under_reshapes(*value.mutable_operand(0)) : value;
}

std::int64_t dimension_size(const HloInstruction& tensor, std::int64_t dimension) {
  return tensor.shape().dimensions(static_cast<int>(dimension));
}

// Dimensions of a sequence [.., .., columns].
struct SequenceView {
  HloInstruction* tensor;
  enum Role { kStep, kRow, kColumn };
  std::array<std::int64_t, 3> dimensions;  // by role
  std::array<std::int64_t, 3> starts = {};

  // The same elements of an operand, if only their order or a part of them is taken.
  bool look_through() {
    if (tensor->opcode() == HloOpcode::kTranspose && tensor->dimensions().back() == 2) {
      for (auto& d : dimensions) d = tensor->dimensions(d);
    } else if (tensor->opcode() == HloOpcode::kSlice &&
               std::ranges::count(tensor->slice_strides(), 1) == 3) {
      for (std::size_t role = 0; role < 3; ++role) {
        starts[role] += tensor->slice_starts(dimensions[role]);
      }
    } else {
      return false;
    }
    tensor = tensor->mutable_operand(0);
    return true;
  }

  std::int64_t stride(Role role) const {
    return product(
        tensor->shape().dimensions().subspan(static_cast<std::size_t>(dimensions[role]) + 1));
  }
  std::int64_t start() const {
    return starts[kStep] * stride(kStep) + starts[kRow] * stride(kRow) + starts[kColumn];
  }
};

// With fewer rows than this, W is read too often: one product of all steps is faster. It has
// another layout of W, so where size counts, it is the only one for all numbers of rows.
constexpr std::int64_t kRowsToMultiply = 4;

// What a loop's last turn leaves in an element of its state.
enum class LastValue { kStart, kCount, kState, kMemory, kSequence };

// Places of a sequence that turns read or write, one after the other.
struct SequencePlaces {
  std::int64_t dimension = 0;
  std::int64_t length = 0;
  Progression turn;
};

class CellLoop {
 public:
  CellLoop(const Loop& loop, std::int64_t turns, const WeightValues& values, Optimization optimize)
      : loop_(loop),
        numbers_(loop_, turns),
        turns_(turns),
        values_(values),
        may_multiply_(optimize == Optimization::kSpeed) {}

  // Whether the turns are the steps of one cell.
  bool find() {
    if (!find_cell()) return false;
    call_ = call_of<kernels::RecurrentCall>(*cell_);
    for (std::int64_t i = 0; i < loop_.state_size(); ++i) {
      const auto value = last_value(i);
      if (!value) return false;
      last_.push_back(*value);
    }
    return has_own_state(4, 0) && (call_.memory_out < 0 || has_own_state(5, 1)) &&
           std::ranges::all_of(
               loop_.instruction().users(),
               [](auto* user) { return user->opcode() == HloOpcode::kGetTupleElement; }) &&
           loop_.is_fixed(*cell_->operand(2)) && loop_.is_fixed(*cell_->operand(3)) && find_input();
  }

  Status replace() {
    HloInstruction* const x = set_input();
    set_output();
    call_.steps = turns_;
    HloInstruction* weights = loop_.outside(*cell_->mutable_operand(2));
    if (input_weights_ != nullptr) {
      weights = join_depths(
          {input_weights_, call_.hidden, recurrent_gates(*cell_), recurrent_panels(*cell_)},
          weights);
    }
    KernelCall made{std::string(kernel_name(*cell_)),
                    as_words(call_),
                    {x, weights, loop_.outside(*cell_->mutable_operand(3)), first_of(4)},
                    {states_ * state_size() + (call_.memory_out < 0 ? 0 : state_size())},
                    kernels::recurrent_scratch_bytes(call_)};
    made.kernel.resize(made.kernel.rfind('_'));  // without the type
    if (cell_->operand_count() > 5) made.operands.push_back(first_of(5));
    result_ = add_kernel_call(made, *cell_);
    for (HloInstruction* user : results()) {
      TFAOT_TRY(checked(user->ReplaceAllUsesWith(
          reshape(value_after(user->tuple_index()), user->shape().dimensions()))));
    }
    return {};
  }

 private:
  bool find_cell() {
    for (HloInstruction* one : loop_.body().instructions()) {
      if (kernel_kind(*one) != KernelKind::kRecurrent) continue;
      if (cell_ != nullptr || call_of<kernels::RecurrentCall>(*one).steps != 1) return false;
      cell_ = one;
    }
    return cell_ != nullptr;
  }

  // Which of the cell's results a value is: 0 the state, 1 the memory, -1 neither.
  int part_of_cell(HloInstruction& value) const {
    HloInstruction* inner = &under_reshapes(value);
    int part = 0;
    if (inner->opcode() == HloOpcode::kSlice && inner->shape().rank() == 3) {
      part = static_cast<int>(inner->slice_starts(0));
      inner = inner->mutable_operand(0);
    }
    const bool is_cell =
        inner->opcode() == HloOpcode::kGetTupleElement && inner->operand(0) == cell_;
    return is_cell ? part : -1;
  }

  std::optional<LastValue> last_value(std::int64_t element) {
    HloInstruction& next = *loop_.next(element);
    if (loop_.is_passed_on(element)) return LastValue::kStart;
    if (numbers_.counter(element)) return LastValue::kCount;
    const int part = part_of_cell(next);
    if (part >= 0) return part == 0 ? LastValue::kState : LastValue::kMemory;
    if (next.opcode() != HloOpcode::kDynamicUpdateSlice ||
        loop_.element(*next.operand(0)) != element || part_of_cell(*next.mutable_operand(1)) != 0) {
      return std::nullopt;
    }
    if (product(next.shape().dimensions()) == call_.rows * call_.hidden) return LastValue::kState;
    const auto places = places_of(*next.operand(0), *next.operand(1),
                                  absl::MakeConstSpan(next.operands()).subspan(2));
    if (!places || places->length != turns_ || (out_ && out_->dimension != places->dimension)) {
      return std::nullopt;
    }
    out_ = places;
    return LastValue::kSequence;
  }

  // Where `part`, [rows, columns] and a dimension of size 1, is in `whole` in each turn. A single
  // row may have no dimension.
  std::optional<SequencePlaces> places_of(const HloInstruction& whole, const HloInstruction& part,
                                          absl::Span<HloInstruction* const> indices) const {
    const std::int64_t rank = whole.shape().rank();
    if (rank != 3 && (rank != 2 || call_.rows != 1)) return std::nullopt;
    std::optional<SequencePlaces> places;
    for (std::int64_t d = 0; d < rank; ++d) {
      if (dimension_size(part, d) == dimension_size(whole, d)) continue;
      const auto turn = numbers_.progression(*indices[static_cast<std::size_t>(d)]);
      if (dimension_size(part, d) != 1 || d == rank - 1 || places || !turn) return std::nullopt;
      places = SequencePlaces{d, dimension_size(whole, d), *turn};
    }
    if (!places || (rank == 3 && dimension_size(whole, 1 - places->dimension) != call_.rows)) {
      return std::nullopt;
    }
    // XLA would move indices from beyond.
    const std::int64_t last = places->turn.first + (turns_ - 1) * places->turn.step;
    const bool is_inside = std::min(places->turn.first, last) >= 0 &&
                           std::max(places->turn.first, last) < places->length;
    const bool goes_on = turns_ == 1 || places->turn.step == 1 || places->turn.step == -1;
    return is_inside && goes_on ? places : std::nullopt;
  }

  // Whether what the cell gets as its state is what it made in the turn before.
  bool has_own_state(std::int64_t operand, int part) {
    const auto element = loop_.element(under_reshapes(*cell_->mutable_operand(operand)));
    return element && part_of_cell(*loop_.next(*element)) == part;
  }

  bool find_input() {
    HloInstruction& x = *cell_->mutable_operand(1);
    if (loop_.is_fixed(x)) return true;
    HloInstruction& slice = under_reshapes(x);
    if (slice.opcode() != HloOpcode::kDynamicSlice || !loop_.is_fixed(*slice.operand(0)) ||
        column_count(slice) != column_count(x)) {
      return false;
    }
    in_ = places_of(*slice.operand(0), slice, absl::MakeConstSpan(slice.operands()).subspan(1));
    return in_.has_value();
  }

  HloInstruction* first_of(std::int64_t operand) {
    const auto element = loop_.element(under_reshapes(*cell_->mutable_operand(operand)));
    return reshape(loop_.start(*element), {call_.rows, call_.hidden});
  }

  // Returns the tensor that the kernel reads.
  HloInstruction* set_input() {
    HloInstruction& x = *cell_->mutable_operand(1);
    if (!in_) return loop_.outside(x);
    HloInstruction* whole = loop_.outside(*under_reshapes(x).mutable_operand(0));
    if (whole->shape().rank() == 2) {
      whole = reshape(whole, {in_->length, call_.rows, column_count(*whole)});
    }
    SequenceView view{whole, {in_->dimension, 1 - in_->dimension, 2}};
    while (view.look_through() || multiplies(view)) {
    }
    call_.x_row = view.stride(SequenceView::kRow);
    call_.x_step = in_->turn.step * view.stride(SequenceView::kStep);
    call_.x_start = view.start() + in_->turn.first * view.stride(SequenceView::kStep);
    return view.tensor;
  }

  // If the sequence is x W, the kernel can get x and multiply it itself.
  bool multiplies(SequenceView& view) {
    HloInstruction& dot = *view.tensor;
    if (!may_multiply_ || dot.opcode() != HloOpcode::kDot || call_.rows < kRowsToMultiply ||
        dot.user_count() != 1 || dot.operand(0)->shape().rank() != 3 ||
        dot.operand(1)->shape().rank() != 2 || dot.operand(0)->shape().element_type() != xla::F32 ||
        !values_.is_known(dot.operand(1))) {
      return false;
    }
    const auto& numbers = dot.dot_dimension_numbers();
    if (numbers.lhs_batch_dimensions_size() != 0 ||
        numbers.lhs_contracting_dimensions_size() != 1 ||
        numbers.lhs_contracting_dimensions(0) != 2) {
      return false;
    }
    HloInstruction* const matrix = dot.mutable_operand(1);
    const bool is_transposed = numbers.rhs_contracting_dimensions(0) == 1;
    std::vector<HloInstruction*> gates;
    for (std::int64_t gate = 0; gate < recurrent_gates(*cell_); ++gate) {
      HloInstruction* columns =
          columns_of(matrix, is_transposed ? 0 : 1,
                     view.starts[SequenceView::kColumn] + call_.x_gate[gate], call_.hidden);
      gates.push_back(is_transposed ? transpose(columns, {1, 0}) : columns);
    }
    input_weights_ = pack_gates(gates, recurrent_panels(*cell_));
    call_.features = dimension_size(*dot.operand(0), 2);
    view.starts[SequenceView::kColumn] = 0;
    view.tensor = dot.mutable_operand(0);
    return true;
  }

  std::vector<HloInstruction*> results() const {
    const auto& users = loop_.instruction().users();
    return {users.begin(), users.end()};
  }

  bool is_wanted(LastValue value) const {
    return std::ranges::any_of(results(), [&](const HloInstruction* user) {
      return last_[static_cast<std::size_t>(user->tuple_index())] == value &&
             (user->user_count() > 0 || user->IsRoot());
    });
  }

  std::int64_t state_size() const { return call_.rows * call_.hidden; }

  // With the rows before the steps, if all that follows wants it so.
  void set_output() {
    if (!is_wanted(LastValue::kSequence)) out_.reset();
    call_.keeps_all = out_ ? 1 : 0;
    states_ = out_ ? turns_ : 1;
    call_.memory_out = is_wanted(LastValue::kMemory) ? states_ * state_size() : -1;
    if (!out_) return;
    is_turned_ = std::ranges::all_of(results(), [this](const HloInstruction* result) {
      return last_[static_cast<std::size_t>(result->tuple_index())] != LastValue::kSequence ||
             std::ranges::all_of(result->users(), [](const HloInstruction* user) {
               return user->opcode() == HloOpcode::kTranspose &&
                      user->dimensions() == Dimensions{1, 0, 2};
             });
    });
    const bool rows_first = (out_->dimension == 1) != is_turned_;
    const std::int64_t step = call_.hidden * (rows_first ? 1 : call_.rows);
    call_.out_row = call_.hidden * (rows_first ? turns_ : 1);
    call_.out_step = out_->turn.step * step;
    call_.out_start = out_->turn.first * step;
  }

  HloInstruction* value_after(std::int64_t element) {
    switch (last_[static_cast<std::size_t>(element)]) {
      case LastValue::kStart:
        return loop_.start(element);
      case LastValue::kCount:
        return count_after(element);
      case LastValue::kMemory:
        return columns_of(result_, 0, std::max<std::int64_t>(0, call_.memory_out), state_size());
      case LastValue::kSequence:
        return out_ ? sequence() : loop_.start(element);
      case LastValue::kState:
        break;
    }
    if (!out_) return columns_of(result_, 0, 0, state_size());
    const std::int64_t last = out_->turn.first + (turns_ - 1) * out_->turn.step;
    return columns_of(sequence(), out_->dimension, last, 1);
  }

  HloInstruction* count_after(std::int64_t element) const {
    const auto counted = *numbers_.counter(element);
    const xla::Shape& shape = loop_.start(element)->shape();
    const auto number =
        xla::LiteralUtil::CreateR0<std::int64_t>(counted.first + turns_ * counted.step);
    return result_->parent()->AddInstruction(
        HloInstruction::CreateConstant(*number.Convert(shape.element_type())));
  }

  // As the loop made it.
  HloInstruction* sequence() const {
    HloInstruction* all = columns_of(result_, 0, 0, turns_ * state_size());
    const bool rows_first = (out_->dimension == 1) != is_turned_;
    all = rows_first ? reshape(all, {call_.rows, turns_, call_.hidden})
                     : reshape(all, {turns_, call_.rows, call_.hidden});
    return is_turned_ ? transpose(all, {1, 0, 2}) : all;
  }

  Loop loop_;
  LoopNumbers numbers_;
  std::int64_t turns_;
  const WeightValues& values_;
  const bool may_multiply_;
  HloInstruction* cell_ = nullptr;
  kernels::RecurrentCall call_{};
  std::vector<LastValue> last_;  // by element of the state
  std::optional<SequencePlaces> in_;
  std::optional<SequencePlaces> out_;
  HloInstruction* input_weights_ = nullptr;  // packed; null: the kernel gets products
  HloInstruction* result_ = nullptr;
  std::int64_t states_ = 1;  // in the result
  bool is_turned_ = false;   // steps and rows, in the result
};

}  // namespace

Status replace_recurrent_layers(xla::HloModule& module, std::int64_t first_weight,
                                const Choices& choices) {
  const WeightValues values(module, first_weight);
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* one : computation->MakeInstructionPostOrder()) {
      const auto loop = Loop::of(*one);
      if (!loop) continue;
      const auto turns = loop_turns(*one);
      if (!turns || *turns < 1) continue;
      CellLoop layer(*loop, *turns, values, choices.optimize);
      if (layer.find()) TFAOT_TRY(layer.replace());
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
