// SPDX-License-Identifier: Apache-2.0
// Calls of kernels for recurrent layers. A step of an LSTM, a GRU or a simple cell becomes a call,
// wherever it is; a loop whose turns are the steps of one cell, and nothing else that depends on
// them, becomes one call with all steps. Other loops keep a call in each turn.
#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "compiler/hlo/loop.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/packing.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

// Columns are the last dimension of a tensor, and all others are rows: XLA takes dimensions of size
// 1 away and puts them in.
std::int64_t column_count(const HloInstruction& tensor) {
  return size_of(tensor, tensor.shape().rank() - 1);
}
std::int64_t row_count(const HloInstruction& tensor) {
  return product(tensor.shape().dimensions()) / column_count(tensor);
}

bool is_same(const HloInstruction& a, const HloInstruction& b) {
  return before_reshapes(&a) == before_reshapes(&b);
}

// Products of the state's size in a step of a recurrent cell; 0: it is another kernel.
std::int64_t gates_of(std::optional<Kernel> kernel) {
  return kernel == Kernel::kLstm ? 4 : kernel == Kernel::kGru ? 3 : kernel == Kernel::kRnn ? 1 : 0;
}

// Panels of the state in a block of weights.
std::int64_t panels_of(Kernel cell) { return cell == Kernel::kRnn ? 2 : 1; }

// Columns from `column` on. Gates are often columns of one tensor with all of them.
struct GatePart {
  HloInstruction* source;
  std::int64_t column;
};

// left [rows, depth] times columns of a known matrix.
struct GateProduct {
  HloInstruction* left;
  GatePart right;
  bool is_transposed;  // the matrix is [columns, depth]
  GatePart result;     // the same as a part

  // The columns that belong to a gate of this many, as [depth, columns].
  HloInstruction* matrix(std::int64_t columns) const {
    HloInstruction* const matrix =
        slice_along(right.source, is_transposed ? 0 : 1, right.column, columns);
    return is_transposed ? transpose(matrix, {1, 0}) : matrix;
  }
};

// The terms of a gate: products with known matrices, biases, and the rest.
struct GateSum {
  std::vector<GateProduct> products;
  std::vector<GatePart> inputs;
  std::vector<GatePart> biases;  // of known tensors with one row, or of one element

  std::int64_t products_with(const HloInstruction& state) const {
    return std::ranges::count_if(products, [&](auto& one) { return is_same(*one.left, state); });
  }
  // The inputs, and the products with anything else.
  std::vector<GatePart> inputs_without(const HloInstruction& state) const {
    std::vector<GatePart> all = inputs;
    for (const GateProduct& product : products) {
      if (!is_same(*product.left, state)) all.push_back(product.result);
    }
    return all;
  }
  // REQUIRES: there is a product with that state.
  const GateProduct& product_with(const HloInstruction& state) const {
    return *std::ranges::find_if(products, [&](auto& one) { return is_same(*one.left, state); });
  }
};

bool is_column_slice(const HloInstruction& slice) {
  return slice.opcode() == kSlice && row_count(slice) == row_count(*slice.operand(0)) &&
         slice.slice_strides().back() == 1;
}

bool add_bias(HloInstruction& value, std::int64_t column, const WeightValues& values,
              GateSum& sum) {
  if (value.opcode() == kBroadcast) {
    HloInstruction* const inner = value.mutable_operand(0);
    const std::int64_t size = elements_of(*inner);
    const bool is_column = size == column_count(value) && size > 1 &&
                           value.dimensions().back() == value.shape().rank() - 1;
    if (!values.is_known(inner) || (size != 1 && !is_column)) return false;
    sum.biases.push_back({inner, is_column ? column : 0});
    return true;
  }
  if (row_count(value) != 1 || !values.is_known(&value)) return false;
  sum.biases.push_back({&value, column});
  return true;
}

bool add_product(HloInstruction& value, std::int64_t column, const WeightValues& values,
                 GateSum& sum) {
  const auto type = value.shape().element_type();
  const auto dot = matrix_product(value);
  if (!dot || !dot->sums_last() || !values.is_known(dot->matrix) || type_of(*dot->left) != type ||
      type_of(*dot->matrix) != type) {
    return false;
  }
  sum.products.push_back(
      {dot->left, {dot->matrix, column}, dot->matrix_depth == 1, {&value, column}});
  return true;
}

// Adds the terms of columns from `column` on.
void add_terms_of_gate(HloInstruction* value, std::int64_t column, const WeightValues& values,
                       GateSum& sum) {
  if (value->opcode() == kAdd) {
    add_terms_of_gate(value->mutable_operand(0), column, values, sum);
    add_terms_of_gate(value->mutable_operand(1), column, values, sum);
  } else if (is_column_slice(*value)) {
    add_terms_of_gate(value->mutable_operand(0), column + value->slice_starts().back(), values,
                      sum);
  } else if (add_bias(*value, column, values, sum) || add_product(*value, column, values, sum)) {
    return;
  } else if (value->opcode() == kReshape && value->operand(0)->shape().rank() > 0 &&
             column_count(*value->operand(0)) == column_count(*value)) {
    add_terms_of_gate(value->mutable_operand(0), column, values, sum);
  } else {
    sum.inputs.push_back({value, column});
  }
}

// A step of a cell, without its products.
struct CellPattern {
  Kernel kernel = Kernel::kLstm;
  std::array<HloInstruction*, 4> operands = {};  // of the gates' activations, in the kernel's order
  HloInstruction* reset_part = nullptr;          // of a gru: added to the candidate after the reset
  HloInstruction* before = nullptr;              // the state, if the pattern knows it
  HloInstruction* memory_before = nullptr;       // of an lstm
  HloInstruction* next = nullptr;                // replaced by the kernel: the state
  HloInstruction* memory = nullptr;              // and the memory
  bool relu = false;
};

// memory = sigmoid(f) * memory_before + sigmoid(i) * tanh(g), state = sigmoid(o) * tanh(memory)
bool match_lstm(HloInstruction* value, CellPattern& cell) {
  auto& [i, f, g, o] = cell.operands;
  const auto memory = m::AddAnyOrder(
      &cell.memory, m::MultiplyAnyOrder(m::Logistic(m::Op(&f)), m::Op(&cell.memory_before)),
      m::MultiplyAnyOrder(m::Logistic(m::Op(&i)), m::Tanh(m::Op(&g))));
  cell.kernel = Kernel::kLstm;
  return xla::Match(value, m::MultiplyAnyOrder(m::Logistic(m::Op(&o)), m::Tanh(memory)));
}

// state = sigmoid(u) * before + (1 - sigmoid(u)) * tanh(g + sigmoid(r) * reset_part)
bool match_gru(HloInstruction* value, CellPattern& cell) {
  auto& [u, r, g, none] = cell.operands;
  HloInstruction *update = nullptr, *same_update = nullptr;
  const auto candidate = m::Tanh(m::AddAnyOrder(
      m::MultiplyAnyOrder(m::Logistic(m::Op(&r)), m::Op(&cell.reset_part)), m::Op(&g)));
  cell.kernel = Kernel::kGru;
  return xla::Match(value,
                    m::AddAnyOrder(
                        m::MultiplyAnyOrder(m::Logistic(&update, m::Op(&u)), m::Op(&cell.before)),
                        m::MultiplyAnyOrder(m::Subtract(number_equal(1), m::Op(&same_update)),
                                            candidate))) &&
         update == same_update;
}

// tanh or relu of a sum. Only a state that a loop hands to the next step tells it from a dense
// layer.
bool match_rnn(HloInstruction* value, CellPattern& cell) {
  HloInstruction*& sum = cell.operands.front();
  cell.kernel = Kernel::kRnn;
  cell.relu = xla::Match(value, m::Maximum(m::Op(&sum), number_equal(0)));
  return cell.relu || xla::Match(value, m::Tanh(m::Op(&sum)));
}

bool is_loop_state(const HloInstruction& value) {
  return xla::Match(before_reshapes(&value), m::GetTupleElement(m::Parameter()));
}

// True if `value` is what the next turn of the loop gets in place of `state`.
bool becomes(const HloInstruction& value, const HloInstruction& state) {
  const HloInstruction& root = *value.parent()->root_instruction();
  if (root.opcode() != kTuple || !is_loop_state(state)) return false;
  const auto element = before_reshapes(&state)->tuple_index();
  return element < root.operand_count() && before_reshapes(root.operand(element)) == &value;
}

class CellCall {
 public:
  CellCall(const CellPattern& cell, const WeightValues& values) : cell_(cell), values_(values) {
    if (cell.next->shape().rank() == 0) return;
    hidden_ = column_count(*cell.next);
    if (hidden_ > 0) rows_ = row_count(*cell.next);
  }

  // True if its gates are sums of products with one state.
  bool is_possible() {
    if (rows_ == 0 || !is_float32(*cell_.next)) return false;
    for (std::int64_t i = 0; i < gates_of(cell_.kernel); ++i) {
      if (!add(entry(cell_.operands, i), sums_)) return false;
    }
    if (cell_.reset_part != nullptr && !add(cell_.reset_part, reset_)) return false;
    if (!choose_state() || needs_its_memory()) return false;
    for (GateSum& sum : sums_) {
      // A gru's candidate gets its state's product after the reset.
      const bool wants = cell_.reset_part == nullptr || &sum != &sums_.back();
      if (sum.products_with(*state_) != (wants ? 1 : 0)) return false;
    }
    return reset_.empty() || (reset_.front().products_with(*state_) == 1 &&
                              reset_.front().inputs.empty() && reset_.front().products.size() == 1);
  }

  Status replace_all() {
    kernels::RecurrentCall call{};
    call.rows = rows_;
    call.steps = 1;
    call.hidden = hidden_;
    HloInstruction* const x = input(call);
    call.x_row = x->shape().dimensions(1);
    call.out_row = hidden_;
    const bool has_memory = cell_.memory != nullptr;
    call.memory_out = has_memory ? rows_ * hidden_ : -1;
    call.relu = cell_.relu ? 1 : 0;
    KernelCall made{cell_.kernel,
                    as_words(call),
                    {x, weights(), bias(), as_rows(state_, hidden_)},
                    {has_memory ? 2 : 1, rows_, hidden_}};
    if (has_memory) made.operands.push_back(as_rows(cell_.memory_before, hidden_));
    HloInstruction* const result = add_kernel_call(made, *cell_.next);
    TFAOT_TRY(replace(*cell_.next, slice_along(result, 0, 0, 1)));
    return has_memory ? replace(*cell_.memory, slice_along(result, 0, 1, 1)) : Status();
  }

 private:
  bool add(HloInstruction* gate, std::vector<GateSum>& sums) const {
    if (gate->shape() != cell_.next->shape()) return false;
    add_terms_of_gate(gate, 0, values_, sums.emplace_back());
    return true;
  }

  bool can_be_state(const HloInstruction& one) const {
    if (column_count(one) != hidden_) return false;
    if (cell_.before != nullptr) return is_same(one, *cell_.before);
    return cell_.kernel != Kernel::kRnn || becomes(*cell_.next, one);
  }

  bool choose_state() {
    const GateSum& sum = reset_.empty() ? sums_.front() : reset_.front();
    for (const GateProduct& product : sum.products) {
      const bool is_better = state_ == nullptr || is_loop_state(*product.left);
      if (can_be_state(*product.left) && is_better) state_ = product.left;
    }
    return state_ != nullptr;
  }

  // True if a gate reads a value that the cell itself computes, such as a peephole from the new
  // memory.
  bool needs_its_memory() const {
    if (cell_.memory == nullptr) return false;
    const auto dependents =
        reached_from(*cell_.memory, [](const auto& one) { return one.users(); });
    return std::ranges::any_of(sums_, [&](const GateSum& sum) {
      return std::ranges::any_of(sum.inputs_without(*state_), [&](const GatePart& part) {
        return absl::c_linear_search(dependents, part.source);
      });
    });
  }

  // The sum of all terms except the state's products and the biases.
  HloInstruction* input(kernels::RecurrentCall& call) {
    std::optional<HloInstruction*> shared;
    Instructions parts;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const std::vector<GatePart> inputs = sums_[i].inputs_without(*state_);
      HloInstruction* const source = inputs.size() == 1 ? inputs.front().source : nullptr;
      if (!shared) shared = source;
      if (*shared != source) shared = nullptr;
      call.x_gate[i] = inputs.size() == 1 ? inputs.front().column : 0;
      parts.push_back(sum_of(inputs));
    }
    if (*shared != nullptr) return as_rows(*shared, column_count(**shared));
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      call.x_gate[i] = static_cast<std::int64_t>(i) * hidden_;
    }
    return concatenate(parts, 1);
  }

  HloInstruction* as_rows(HloInstruction* tensor, std::int64_t columns) const {
    return reshape(tensor, {rows_, columns});
  }

  HloInstruction* sum_of(const std::vector<GatePart>& inputs) const {
    HloInstruction* sum = nullptr;
    for (const GatePart& input : inputs) {
      HloInstruction* const rows = as_rows(input.source, column_count(*input.source));
      sum = accumulate(kAdd, sum, slice_along(rows, 1, input.column, hidden_));
    }
    return sum != nullptr ? sum : filled({rows_, hidden_}, 0);
  }

  HloInstruction* filled(absl::Span<const std::int64_t> sizes, float value) const {
    return constant_next_to(cell_.next,
                            xla::LiteralUtil::CreateFullWithDescendingLayout<float>(sizes, value));
  }

  HloInstruction* weights() const {
    Instructions gates;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const bool is_reset = cell_.reset_part != nullptr && i + 1 == sums_.size();
      const GateSum& sum = is_reset ? reset_.front() : sums_[i];
      gates.push_back(sum.product_with(*state_).matrix(hidden_));
    }
    return pack_gates(gates, panels_of(cell_.kernel));
  }

  HloInstruction* bias() const {
    Instructions gates;
    for (const auto* sums : {&sums_, &reset_}) {
      for (const GateSum& sum : *sums) gates.push_back(reshape(bias_of(sum), {1, hidden_}));
    }
    return pack_biases(gates, panels_of(cell_.kernel));
  }

  HloInstruction* bias_of(const GateSum& sum) const {
    HloInstruction* bias = nullptr;
    for (const GatePart& part : sum.biases) bias = accumulate(kAdd, bias, bias_of(part));
    return bias != nullptr ? bias : filled({hidden_}, 0);
  }

  HloInstruction* bias_of(const GatePart& part) const {
    HloInstruction* const source = part.source;
    const std::int64_t size = elements_of(*source);
    if (size > 1 || hidden_ == 1) {
      return slice_along(reshape(source, {size}), 0, part.column, hidden_);
    }
    if (source->opcode() == kConstant) {
      return filled({hidden_}, source->literal().GetFirstElement<float>());
    }
    return broadcast(reshape(source, {}), {hidden_}, {});
  }

  const CellPattern& cell_;
  const WeightValues& values_;
  std::int64_t rows_ = 0;
  std::int64_t hidden_ = 0;
  std::vector<GateSum> sums_;   // by gate
  std::vector<GateSum> reset_;  // of a gru's reset_part
  HloInstruction* state_ = nullptr;
};

// The value that a loop's last turn leaves in an element of its state. kOther: what is passed on,
// or counts; a loop where that is used afterwards stays.
enum class LastValue { kState, kMemory, kSequence, kOther };

// Places of a sequence that turns read or write, one after the other.
struct SequencePlaces {
  std::int64_t dimension = 0;
  std::int64_t length = 0;
  Progression turn;
};

class CellLoop {
 public:
  CellLoop(const Loop& loop, std::int64_t turns, const WeightValues& values, const Choices& choices)
      : loop_(loop),
        numbers_(loop_, turns),
        turns_(turns),
        values_(values),
        // It has another layout of W, so where size counts, there is one way for all rows. Weights
        // of fewer bits, and numbers, are those of products alone.
        may_multiply_(choices.optimize == Optimization::kSpeed &&
                      choices.weights_type == WeightsType::kFloat32 && !choices.wants_bfloat16()) {}

  bool has_cell() const { return cell_ != nullptr; }

  // True if the turns are the steps of one cell.
  bool find() {
    if (!find_cell()) return false;
    call_ = call_of<kernels::RecurrentCall>(*cell_);
    for (std::int64_t i = 0; i < loop_.state_size(); ++i) {
      const auto value = last_value(i);
      if (!value) return false;
      last_.push_back(*value);
    }
    return is_taken_apart(loop_.instruction()) && !is_wanted(LastValue::kOther) &&
           has_own_state(4, 0) && (call_.memory_out < 0 || has_own_state(5, 1)) &&
           loop_.is_fixed(*cell_->operand(2)) && loop_.is_fixed(*cell_->operand(3)) && find_input();
  }

  Status replace_all() {
    HloInstruction* const x = set_input();
    set_output();
    call_.steps = turns_;
    const Kernel kernel = *called_kernel(*cell_);
    HloInstruction* weights = loop_.outside(*cell_->mutable_operand(2));
    if (input_weights_ != nullptr) {
      weights =
          join_depths({input_weights_, call_.hidden, gates_of(kernel), panels_of(kernel)}, weights);
    }
    KernelCall made{kernel,
                    as_words(call_),
                    {x, weights, loop_.outside(*cell_->mutable_operand(3)), first_of(4)},
                    {states_ * state_size() + (call_.memory_out < 0 ? 0 : state_size())}};
    if (cell_->operand_count() > 5) made.operands.push_back(first_of(5));
    result_ = add_kernel_call(made, *cell_);
    for (HloInstruction* user : results()) {
      TFAOT_TRY(replace(*user, value_after(user->tuple_index())));
    }
    return {};
  }

 private:
  bool find_cell() {
    for (HloInstruction* one : loop_.body().instructions()) {
      if (gates_of(called_kernel(*one)) == 0) continue;
      if (cell_ != nullptr || call_of<kernels::RecurrentCall>(*one).steps != 1) return false;
      cell_ = one;
    }
    return cell_ != nullptr;
  }

  // The cell's result that a value is: 0 the state, 1 the memory, -1 neither.
  int part_of_cell(HloInstruction& value) const {
    HloInstruction* inner = before_reshapes(&value);
    int part = 0;
    if (inner->opcode() == kSlice && inner->shape().rank() == 3) {
      part = static_cast<int>(inner->slice_starts(0));
      inner = inner->mutable_operand(0);
    }
    const bool is_cell = inner->opcode() == kGetTupleElement && inner->operand(0) == cell_;
    return is_cell ? part : -1;
  }

  std::optional<LastValue> last_value(std::int64_t element) {
    HloInstruction& next = *loop_.next(element);
    if (loop_.is_passed_on(element) || numbers_.counter(element)) return LastValue::kOther;
    const int part = part_of_cell(next);
    if (part >= 0) return part == 0 ? LastValue::kState : LastValue::kMemory;
    if (next.opcode() != kDynamicUpdateSlice || loop_.element(*next.operand(0)) != element ||
        part_of_cell(*next.mutable_operand(1)) != 0) {
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

  // The places of `part`, [rows, columns] and a dimension of size 1, in `whole` by turn. A single
  // row may have no dimension.
  std::optional<SequencePlaces> places_of(const HloInstruction& whole, const HloInstruction& part,
                                          absl::Span<HloInstruction* const> indices) const {
    const std::int64_t rank = whole.shape().rank();
    if (rank != 3 && (rank != 2 || call_.rows != 1)) return std::nullopt;
    std::optional<SequencePlaces> places;
    for (std::int64_t d = 0; d < rank; ++d) {
      if (size_of(part, d) == size_of(whole, d)) continue;
      const auto turn = numbers_.progression(*entry(indices, d));
      if (size_of(part, d) != 1 || d == rank - 1 || places || !turn) return std::nullopt;
      places = SequencePlaces{d, size_of(whole, d), *turn};
    }
    if (!places || (rank == 3 && size_of(whole, 1 - places->dimension) != call_.rows)) {
      return std::nullopt;
    }
    // XLA would move indices from beyond.
    const std::int64_t last = places->turn.first + (turns_ - 1) * places->turn.step;
    const bool is_inside = std::min(places->turn.first, last) >= 0 &&
                           std::max(places->turn.first, last) < places->length;
    const bool goes_on = turns_ == 1 || places->turn.step == 1 || places->turn.step == -1;
    return is_inside && goes_on ? places : std::nullopt;
  }

  // True if the cell's state is its result of the turn before.
  bool has_own_state(std::int64_t operand, int part) {
    const auto element = loop_.element(*before_reshapes(cell_->mutable_operand(operand)));
    return element && part_of_cell(*loop_.next(*element)) == part;
  }

  bool find_input() {
    HloInstruction& x = *cell_->mutable_operand(1);
    if (loop_.is_fixed(x)) return true;
    HloInstruction& slice = *before_reshapes(&x);
    if (slice.opcode() != kDynamicSlice || !loop_.is_fixed(*slice.operand(0)) ||
        column_count(slice) != column_count(x)) {
      return false;
    }
    in_ = places_of(*slice.operand(0), slice, absl::MakeConstSpan(slice.operands()).subspan(1));
    return in_.has_value();
  }

  HloInstruction* first_of(std::int64_t operand) {
    const auto element = loop_.element(*before_reshapes(cell_->mutable_operand(operand)));
    return reshape(loop_.start(*element), {call_.rows, call_.hidden});
  }

  // Returns the tensor that the kernel reads.
  HloInstruction* set_input() {
    HloInstruction& x = *cell_->mutable_operand(1);
    if (!in_) return loop_.outside(x);
    HloInstruction* whole = loop_.outside(*before_reshapes(&x)->mutable_operand(0));
    if (whole->shape().rank() == 2) {
      whole = reshape(whole, {in_->length, call_.rows, column_count(*whole)});
    }
    View view = view_of(whole);  // [steps, rows, columns]
    if (in_->dimension == 1) std::swap(view.strides[0], view.strides[1]);
    while (looks_through(view) || multiplies(view)) {
    }
    call_.x_row = view.strides[1].step;
    call_.x_step = in_->turn.step * view.strides[0].step;
    call_.x_start = view.offset + in_->turn.first * view.strides[0].step;
    return view.tensor;
  }

  static bool looks_through(View& view) {
    if (!xla::HloPredicateIsOp<kSlice, kTranspose>(view.tensor)) return false;
    const auto before = view.before();
    if (!before || before->strides[2].step != 1) return false;
    view = *before;
    return true;
  }

  // If the sequence is x W, the kernel can get x and multiply it itself, with the same bits: a row
  // must not depend on the number of rows. A product of few columns has another order of sums.
  bool multiplies(View& view) {
    HloInstruction& dot = *view.tensor;
    const auto found = matrix_product(dot);
    if (!may_multiply_ || !found || call_.rows < tuned().recurrent_fewest_rows_to_multiply ||
        dot.user_count() != 1 || column_count(dot) <= kernels::kMostNarrowColumns ||
        found->left->shape().rank() != 3 || found->left_depth != 2 || !is_float32(*found->left) ||
        !values_.is_known(found->matrix)) {
      return false;
    }
    Instructions gates;
    const Kernel kernel = *called_kernel(*cell_);
    const std::int64_t width = column_count(dot);
    for (std::int64_t gate = 0; gate < gates_of(kernel); ++gate) {
      const GatePart columns{found->matrix, view.offset % width + call_.x_gate[gate]};
      gates.push_back(
          GateProduct{found->left, columns, found->matrix_depth == 1, {}}.matrix(call_.hidden));
    }
    input_weights_ = pack_gates(gates, panels_of(kernel));
    call_.features = size_of(*found->left, 2);
    // Its rows are those of the product.
    view = {found->left,
            {{view.strides[0].size, view.strides[0].step / width * call_.features},
             {view.strides[1].size, view.strides[1].step / width * call_.features},
             {call_.features, 1}},
            view.offset / width * call_.features};
    return true;
  }

  Instructions results() const {
    const auto& users = loop_.instruction().users();
    return {users.begin(), users.end()};
  }

  bool is_wanted(LastValue value) const {
    return std::ranges::any_of(results(), [&](const HloInstruction* user) {
      return entry(last_, user->tuple_index()) == value &&
             (user->user_count() > 0 || user->IsRoot());
    });
  }

  std::int64_t state_size() const { return call_.rows * call_.hidden; }

  // With the rows before the steps, if all users transpose it so.
  void set_output() {
    if (!is_wanted(LastValue::kSequence)) out_.reset();
    call_.keeps_all = out_ ? 1 : 0;
    states_ = out_ ? turns_ : 1;
    call_.memory_out = is_wanted(LastValue::kMemory) ? states_ * state_size() : -1;
    if (!out_) return;
    is_turned_ = std::ranges::all_of(results(), [this](const HloInstruction* result) {
      return entry(last_, result->tuple_index()) != LastValue::kSequence ||
             std::ranges::all_of(result->users(), [](const HloInstruction* user) {
               return user->opcode() == kTranspose && user->dimensions() == Dimensions{1, 0, 2};
             });
    });
    const bool rows_first = (out_->dimension == 1) != is_turned_;
    const std::int64_t step = call_.hidden * (rows_first ? 1 : call_.rows);
    call_.out_row = call_.hidden * (rows_first ? turns_ : 1);
    call_.out_step = out_->turn.step * step;
    call_.out_start = out_->turn.first * step;
  }

  HloInstruction* value_after(std::int64_t element) {
    switch (entry(last_, element)) {
      case LastValue::kMemory:
        return slice_along(result_, 0, std::max<std::int64_t>(0, call_.memory_out), state_size());
      case LastValue::kSequence:
        return out_ ? sequence() : loop_.start(element);
      case LastValue::kOther:  // nobody uses it
        return loop_.start(element);
      case LastValue::kState:
        break;
    }
    if (!out_) return slice_along(result_, 0, 0, state_size());
    const std::int64_t last = out_->turn.first + (turns_ - 1) * out_->turn.step;
    return slice_along(sequence(), out_->dimension, last, 1);
  }

  // As the loop made it.
  HloInstruction* sequence() const {
    HloInstruction* all = slice_along(result_, 0, 0, turns_ * state_size());
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

// ---- Facts.

struct RecurrentFacts {
  using Call = kernels::RecurrentCall;

  // All steps of a row lie together, in its operand and in its result.
  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    const auto may_be = [&](std::int64_t operand) { return rows.of(one, operand) != Rows::kMixed; };
    return rows.divide(call.rows) && is_first_in_order(one, rows) &&
           call.x_row * call.rows == elements_of(*one.operand(1)) &&
           rows.of(one, 2) == Rows::kNone && rows.of(one, 3) == Rows::kNone && may_be(4) &&
           (one.operand_count() < 6 || may_be(5)) && call.memory_out < 0 &&
           call.out_row * call.rows == xla::ShapeUtil::ElementsIn(one.shape().tuple_shapes(0));
  }
  // All steps' products with the state, and the functions of the gates.
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    const std::int64_t gates = gates_of(called_kernel(one));
    const ProductSize size{call.rows, gates * call.hidden, call.features + call.hidden,
                           element_bytes(*one.operand(1))};
    const auto state = static_cast<double>(call.rows * call.hidden * size.element_bytes);
    const double functions = speed.vectors(state) * static_cast<double>(gates + 1) * kDearCycles;
    return call_cycles(one, speed) +
           static_cast<double>(call.steps) *
               (speed.multiply(size, bytes_of(one.operand(2)->shape())) + functions);
  }
  static KernelWork work(const Call& call, const HloInstruction& one) {
    const std::int64_t depth = call.features + call.hidden;
    return {fmt::format("{} steps of {} rows, state of {}", call.steps, call.rows, call.hidden),
            2 * call.steps * call.rows * depth * gates_of(called_kernel(one)) * call.hidden};
  }
};

}  // namespace

constinit const KernelFacts kLstmFacts = facts_of<RecurrentFacts>();
constinit const KernelFacts kGruFacts = facts_of<RecurrentFacts>();
constinit const KernelFacts kRnnFacts = facts_of<RecurrentFacts>();

Status replace_recurrent_cell(HloInstruction& next, PassContext& context) {
  if (next.user_count() == 0 || !next.shape().IsArray()) return {};
  for (const auto matches : {match_lstm, match_gru, match_rnn}) {
    CellPattern cell{.next = &next};
    if (!matches(&next, cell)) continue;
    CellCall call(cell, context.values());
    if (call.is_possible()) return call.replace_all();
  }
  return {};
}

Status replace_recurrent_layer(HloInstruction& loop, PassContext& context) {
  const auto found = Loop::of(loop);
  const auto turns = found ? loop_turns(loop) : std::nullopt;
  if (!turns || *turns < 1) return {};
  CellLoop layer(*found, *turns, context.values(), context.choices);
  if (layer.find()) return layer.replace_all();
  if (layer.has_cell()) {
    add_remark(context, loop,
               "no call for all steps: the loop does more than the steps of one recurrent cell");
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
