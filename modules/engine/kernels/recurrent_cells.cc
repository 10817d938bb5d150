// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent_cells.h"

#include <algorithm>
#include <optional>
#include <set>

#include "kernels/gate_sums.h"
#include "kernels/kernel_call.h"
#include "kernels/packing.h"
#include "tfaot/kernels/abi.h"
#include "xla/literal.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// What a step does, without its products.
struct CellPattern {
  const char* kernel;  // "lstm"
  // What the gates' activations get, in the order of the kernel's gates.
  std::vector<HloInstruction*> gates = {};
  // Of a gru: what is added to the candidate after the reset.
  HloInstruction* reset_part = nullptr;
  HloInstruction* before = nullptr;         // the state, if the pattern knows it
  HloInstruction* memory_before = nullptr;  // of an lstm
  HloInstruction* next = nullptr;           // what the kernel replaces: the state
  HloInstruction* memory = nullptr;         // and the memory
  bool relu = false;
};

bool is_one(const HloInstruction& value) {
  const HloInstruction* inner = value.opcode() == HloOpcode::kBroadcast ? value.operand(0) : &value;
  return inner->opcode() == HloOpcode::kConstant && inner->literal().IsAllFloat(1);
}

bool is_zero_constant(const HloInstruction& value) {
  const HloInstruction* inner = value.opcode() == HloOpcode::kBroadcast ? value.operand(0) : &value;
  return inner->opcode() == HloOpcode::kConstant && inner->literal().IsAll(0);
}

// The operands of a sum or product, one of which is of that kind, that one first.
struct CommutedPair {
  HloInstruction* first;
  HloInstruction* second;
};
std::vector<CommutedPair> commuted_pairs(HloInstruction& value, HloOpcode opcode, HloOpcode first) {
  std::vector<CommutedPair> found;
  if (value.opcode() != opcode) return found;
  for (const int i : {0, 1}) {
    if (value.operand(i)->opcode() == first) {
      found.push_back({value.mutable_operand(i), value.mutable_operand(1 - i)});
    }
  }
  return found;
}

// memory = sigmoid(f) * memory_before + sigmoid(i) * tanh(g)
bool match_memory(HloInstruction& memory, CellPattern& cell) {
  for (const CommutedPair& sum : commuted_pairs(memory, HloOpcode::kAdd, HloOpcode::kMultiply)) {
    for (const CommutedPair& kept :
         commuted_pairs(*sum.first, HloOpcode::kMultiply, HloOpcode::kLogistic)) {
      for (const CommutedPair& added :
           commuted_pairs(*sum.second, HloOpcode::kMultiply, HloOpcode::kLogistic)) {
        if (added.second->opcode() != HloOpcode::kTanh) continue;
        cell.memory = &memory;
        cell.memory_before = kept.second;
        cell.gates = {added.first->mutable_operand(0), kept.first->mutable_operand(0),
                      added.second->mutable_operand(0)};
        return true;
      }
    }
  }
  return false;
}

// sigmoid(o) * tanh(memory)
std::optional<CellPattern> lstm_pattern(HloInstruction& value) {
  for (const CommutedPair& shown :
       commuted_pairs(value, HloOpcode::kMultiply, HloOpcode::kLogistic)) {
    if (shown.second->opcode() != HloOpcode::kTanh) continue;
    CellPattern cell{"lstm"};
    if (!match_memory(*shown.second->mutable_operand(0), cell)) continue;
    cell.gates.push_back(shown.first->mutable_operand(0));
    cell.next = &value;
    return cell;
  }
  return std::nullopt;
}

// tanh(... + sigmoid(r) * ...): the sum's parts are put into `cell`.
bool match_candidate(HloInstruction& candidate, CellPattern& cell) {
  for (const CommutedPair& parts :
       commuted_pairs(*candidate.mutable_operand(0), HloOpcode::kAdd, HloOpcode::kMultiply)) {
    for (const CommutedPair& reset :
         commuted_pairs(*parts.first, HloOpcode::kMultiply, HloOpcode::kLogistic)) {
      cell.gates.push_back(reset.first->mutable_operand(0));
      cell.gates.push_back(parts.second);
      cell.reset_part = reset.second;
      return true;
    }
  }
  return false;
}

// u * before + (1 - u) * candidate
std::optional<CellPattern> gru_pattern(HloInstruction& value) {
  for (const CommutedPair& sum : commuted_pairs(value, HloOpcode::kAdd, HloOpcode::kMultiply)) {
    for (const CommutedPair& kept :
         commuted_pairs(*sum.first, HloOpcode::kMultiply, HloOpcode::kLogistic)) {
      for (const CommutedPair& added :
           commuted_pairs(*sum.second, HloOpcode::kMultiply, HloOpcode::kSubtract)) {
        if (added.second->opcode() != HloOpcode::kTanh || !is_one(*added.first->operand(0)) ||
            added.first->operand(1) != kept.first) {
          continue;
        }
        CellPattern cell{"gru", {kept.first->mutable_operand(0)}};
        if (!match_candidate(*added.second, cell)) continue;
        cell.before = kept.second;
        cell.next = &value;
        return cell;
      }
    }
  }
  return std::nullopt;
}

// tanh or relu of a sum. Only a state that a loop hands to the next step tells it from a dense
// layer.
std::optional<CellPattern> rnn_pattern(HloInstruction& value) {
  const bool relu = value.opcode() == HloOpcode::kMaximum && is_zero_constant(*value.operand(1));
  if (value.opcode() != HloOpcode::kTanh && !relu) return std::nullopt;
  CellPattern cell{"rnn", {value.mutable_operand(0)}};
  cell.next = &value;
  cell.relu = relu;
  return cell;
}

bool is_loop_state(const HloInstruction& value) {
  const HloInstruction& inner = without_reshapes(value);
  return inner.opcode() == HloOpcode::kGetTupleElement &&
         inner.operand(0)->opcode() == HloOpcode::kParameter;
}

// Whether `value` is what the next turn of the loop gets in place of `state`.
bool becomes(const HloInstruction& value, const HloInstruction& state) {
  const HloInstruction& root = *value.parent()->root_instruction();
  if (root.opcode() != HloOpcode::kTuple || !is_loop_state(state)) return false;
  const auto element = without_reshapes(state).tuple_index();
  return element < root.operand_count() && &without_reshapes(*root.operand(element)) == &value;
}

// What depends on `value`, with it.
std::set<const HloInstruction*> dependents_of(const HloInstruction& value) {
  std::set<const HloInstruction*> found = {&value};
  std::vector<const HloInstruction*> open = {&value};
  while (!open.empty()) {
    const HloInstruction* const one = open.back();
    open.pop_back();
    for (const HloInstruction* user : one->users()) {
      if (found.insert(user).second) open.push_back(user);
    }
  }
  return found;
}

class CellCall {
 public:
  CellCall(const CellPattern& cell, const WeightValues& values)
      : cell_(cell), values_(values), is_rnn_(cell.gates.size() == 1) {
    if (cell.next->shape().rank() == 0) return;
    hidden_ = column_count(*cell.next);
    if (hidden_ > 0) rows_ = product(dimensions_of(*cell.next)) / hidden_;
  }

  // Whether its gates are sums of products with one state.
  bool is_possible() {
    if (rows_ == 0 || cell_.next->shape().element_type() != xla::F32) return false;
    for (HloInstruction* gate : cell_.gates) {
      if (!add(gate, sums_)) return false;
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

  Status replace() {
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
                    {has_memory ? 2 : 1, rows_, hidden_},
                    kernels::recurrent_scratch_bytes(call)};
    if (has_memory) made.operands.push_back(as_rows(cell_.memory_before, hidden_));
    HloInstruction* const result = add_kernel_call(made, *cell_.next);
    TFAOT_TRY(replace_by_part(*cell_.next, result, 0));
    return has_memory ? replace_by_part(*cell_.memory, result, 1) : Status();
  }

 private:
  bool add(HloInstruction* gate, std::vector<GateSum>& sums) const {
    if (gate->shape() != cell_.next->shape()) return false;
    sums.push_back(gate_sum(gate, values_));
    return true;
  }

  bool can_be_state(const HloInstruction& one) const {
    if (column_count(one) != hidden_) return false;
    if (cell_.before != nullptr) {
      return &without_reshapes(one) == &without_reshapes(*cell_.before);
    }
    return !is_rnn_ || becomes(*cell_.next, one);
  }

  bool choose_state() {
    const GateSum& sum = reset_.empty() ? sums_.front() : reset_.front();
    for (const GateProduct& product : sum.products) {
      const bool is_better = state_ == nullptr || is_loop_state(*product.left);
      if (can_be_state(*product.left) && is_better) state_ = product.left;
    }
    return state_ != nullptr;
  }

  // Whether a gate gets what the cell itself computes, as by a peephole from the new memory.
  bool needs_its_memory() const {
    if (cell_.memory == nullptr) return false;
    const auto dependents = dependents_of(*cell_.memory);
    const auto is_dependent = [&](const GatePart& part) {
      return dependents.contains(part.source);
    };
    return std::ranges::any_of(sums_, [&](const GateSum& sum) {
      return std::ranges::any_of(sum.inputs_without(*state_), is_dependent);
    });
  }

  // All that is added to the gates but the state's products and what is the same for all rows.
  HloInstruction* input(kernels::RecurrentCall& call) {
    std::optional<HloInstruction*> shared;
    std::vector<HloInstruction*> parts;
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
    return joined(parts, 1);
  }

  HloInstruction* as_rows(HloInstruction* tensor, std::int64_t columns) const {
    return reshape(tensor, {rows_, columns});
  }

  HloInstruction* sum_of(const std::vector<GatePart>& inputs) const {
    HloInstruction* sum = nullptr;
    for (const GatePart& input : inputs) {
      HloInstruction* one =
          columns_of(as_rows(input.source, column_count(*input.source)), 1, input.column, hidden_);
      sum = sum == nullptr ? one : binary(HloOpcode::kAdd, sum, one);
    }
    return sum != nullptr ? sum : filled({rows_, hidden_}, 0);
  }

  HloInstruction* filled(absl::Span<const std::int64_t> sizes, float value) const {
    return cell_.next->parent()->AddInstruction(HloInstruction::CreateConstant(
        xla::LiteralUtil::CreateFullWithDescendingLayout<float>(sizes, value)));
  }

  HloInstruction* weights() const {
    std::vector<HloInstruction*> gates;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const bool is_reset = cell_.reset_part != nullptr && i + 1 == sums_.size();
      const GateSum& sum = is_reset ? reset_.front() : sums_[i];
      gates.push_back(sum.matrix_for(*state_, hidden_));
    }
    return pack_gates(gates, is_rnn_ ? 2 : 1);
  }

  HloInstruction* bias() const {
    std::vector<HloInstruction*> gates;
    for (const auto* sums : {&sums_, &reset_}) {
      for (const GateSum& sum : *sums) gates.push_back(reshape(bias_of(sum), {1, hidden_}));
    }
    return pack_biases(gates, is_rnn_ ? 2 : 1);
  }

  HloInstruction* bias_of(const GateSum& sum) const {
    HloInstruction* bias = nullptr;
    for (const GatePart& part : sum.biases) {
      HloInstruction* one = bias_part(part);
      bias = bias == nullptr ? one : binary(HloOpcode::kAdd, bias, one);
    }
    return bias != nullptr ? bias : filled({hidden_}, 0);
  }

  HloInstruction* bias_part(const GatePart& part) const {
    HloInstruction* source = part.source;
    const std::int64_t size = product(dimensions_of(*source));
    if (size > 1 || hidden_ == 1)
      return columns_of(reshape(source, {size}), 0, part.column, hidden_);
    if (source->opcode() == HloOpcode::kConstant) {
      return filled({hidden_}, source->literal().GetFirstElement<float>());
    }
    return broadcast(reshape(source, {}), {hidden_}, {});
  }

  static Status replace_by_part(HloInstruction& value, HloInstruction* result, std::int64_t which) {
    return checked(value.ReplaceAllUsesWith(
        reshape(columns_of(result, 0, which, 1), value.shape().dimensions())));
  }

  const CellPattern& cell_;
  const WeightValues& values_;
  bool is_rnn_;
  std::int64_t rows_ = 0;
  std::int64_t hidden_ = 0;
  std::vector<GateSum> sums_;   // by gate
  std::vector<GateSum> reset_;  // of a gru's reset_part
  HloInstruction* state_ = nullptr;
};

}  // namespace

Status replace_recurrent_cells(xla::HloModule& module, std::int64_t first_weight) {
  const WeightValues values(module, first_weight);
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* one : computation->MakeInstructionPostOrder()) {
      if (one->user_count() == 0 || !one->shape().IsArray()) continue;
      for (const auto& pattern : {lstm_pattern, gru_pattern, rnn_pattern}) {
        const auto cell = pattern(*one);
        if (!cell) continue;
        CellCall call(*cell, values);
        if (!call.is_possible()) continue;
        TFAOT_TRY(call.replace());
        break;
      }
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
