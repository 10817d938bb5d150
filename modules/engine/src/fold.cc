// SPDX-License-Identifier: Apache-2.0
#include "fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "packing.h"
#include "shape_ops.h"
#include "tfaot/base/hash.h"
#include "weight_values.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"

namespace tfaot::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Large values are handed on, not copied.
using Value = std::shared_ptr<const xla::LiteralBase>;

// The same bytes in another shape.
Value reshaped(const Value& value, const xla::Shape& shape) {
  struct View {
    Value owner;
    xla::BorrowingLiteral literal;
  };
  const auto view =
      std::make_shared<View>(View{value, {static_cast<const char*>(value->untyped_data()), shape}});
  return {view, &view->literal};
}

class Folder {
 public:
  Folder(xla::HloModule& module, std::int64_t first_weight, WeightStore& store)
      : entry_(*module.entry_computation()),
        first_weight_(first_weight),
        store_(store),
        values_(module, first_weight) {
    for (auto i = first_weight; i < entry_.num_parameters(); ++i) {
      weights_.push_back(static_cast<std::size_t>(i - first_weight));
    }
  }

  Result<std::vector<std::size_t>> fold() {
    for (HloInstruction* instruction : entry_.MakeInstructionPostOrder()) {
      const auto& users = instruction->users();
      const bool is_last = instruction->IsRoot() ||
                           std::any_of(users.begin(), users.end(),
                                       [&](const auto* user) { return !values_.is_known(user); });
      if (!values_.is_known(instruction) || !is_last) continue;
      TFAOT_TRY(replace(*instruction, instruction->metadata().op_name() == kPackedName));
    }
    return weights_;
  }

 private:
  Status replace(HloInstruction& instruction, bool is_packed) {
    if (instruction.opcode() == HloOpcode::kParameter ||
        instruction.opcode() == HloOpcode::kConstant) {
      return {};
    }
    // Changes no byte, so what it is made from will do.
    if (instruction.opcode() == HloOpcode::kReshape && values_.is_known(instruction.operand(0))) {
      return replace(*instruction.mutable_operand(0), is_packed);
    }
    if (replaced_.contains(&instruction)) return {};
    replaced_.insert(&instruction);
    HloInstruction* made = nullptr;
    if (values_.is_weight(&instruction)) {
      TFAOT_ASSIGN(made, parameter(instruction, is_packed));
    } else {
      TFAOT_ASSIGN(const auto value, value_of(instruction));
      made = entry_.AddInstruction(HloInstruction::CreateConstant(value->Clone()));
    }
    return checked(instruction.ReplaceAllUsesWith(made));
  }

  Result<HloInstruction*> parameter(const HloInstruction& instruction, bool is_packed) {
    const std::string key = key_of(instruction);
    auto index = store_.find(key);
    if (!index) {
      TFAOT_ASSIGN(const auto value, value_of(instruction));
      TFAOT_ASSIGN(index, store_.add(key, name_of(instruction, is_packed), *value));
    }
    const auto known = std::find(weights_.begin(), weights_.end(), *index);
    if (known != weights_.end()) {
      return entry_.parameter_instruction(first_weight_ + (known - weights_.begin()));
    }
    weights_.push_back(*index);
    const auto number = entry_.num_parameters();
    HloInstruction* made = entry_.AddEntryComputationParameter(HloInstruction::CreateParameter(
        number, instruction.shape(), fmt::format("folded_{}", number)));
    definitions_[made] = &instruction;
    return made;
  }

  // "dense/kernel, packed"
  std::string name_of(const HloInstruction& instruction, bool is_packed) const {
    std::vector<std::string> names;
    std::set<const HloInstruction*> seen;
    collect_names(instruction, seen, names);
    const std::string how = is_packed ? kPackedName : "folded";
    if (names.size() == 1) return fmt::format("{}, {}", names.front(), how);
    return fmt::format("{} and {} more, {}", names.front(), names.size() - 1, how);
  }

  void collect_names(const HloInstruction& instruction, std::set<const HloInstruction*>& seen,
                     std::vector<std::string>& names) const {
    if (!seen.insert(&instruction).second) return;
    if (instruction.opcode() == HloOpcode::kParameter) {
      names.push_back(store_.name(weight_of(instruction)));
    }
    for (const auto* operand : instruction.operands()) collect_names(*operand, seen, names);
  }

  std::size_t weight_of(const HloInstruction& parameter) const {
    return weights_.at(static_cast<std::size_t>(parameter.parameter_number() - first_weight_));
  }

  // What an instruction computes, and from what, in any module.
  std::string key_of(const HloInstruction& instruction) {
    auto& key = keys_[&instruction];
    if (!key.empty()) return key;
    if (instruction.opcode() == HloOpcode::kParameter) {
      return key = fmt::format("weight {}", weight_of(instruction));
    }
    xla::CanonicalNameMap names;
    xla::StringPrinter printer;
    instruction.PrintWithCanonicalNameMap(
        &printer, xla::HloPrintOptions::Canonical().set_print_metadata(false), &names);
    std::string text = std::move(printer).ToString();
    if (instruction.opcode() == HloOpcode::kConstant) {
      const auto& literal = instruction.literal();
      text += std::string_view(static_cast<const char*>(literal.untyped_data()),
                               static_cast<std::size_t>(literal.size_bytes()));
    }
    for (const auto* operand : instruction.operands()) text += "\n" + key_of(*operand);
    return keys_[&instruction] = sha256_of(text);
  }

  Result<Value> value_of(const HloInstruction& instruction) {
    auto value = evaluate(instruction);
    evaluated_.clear();
    return value;
  }

  Result<Value> evaluate(const HloInstruction& instruction) {
    if (instruction.opcode() == HloOpcode::kParameter) {
      const auto definition = definitions_.find(&instruction);
      if (definition != definitions_.end()) return evaluate(*definition->second);
      return Value(Value(), &store_.value(weight_of(instruction)));
    }
    if (instruction.opcode() == HloOpcode::kConstant) {
      return Value(Value(), &instruction.literal());
    }
    const auto found = evaluated_.find(&instruction);
    if (found != evaluated_.end()) return found->second;
    std::vector<Value> operands;
    for (const auto* operand : instruction.operands()) {
      TFAOT_ASSIGN(auto value, evaluate(*operand));
      operands.push_back(std::move(value));
    }
    for (const auto* operand : instruction.operands()) {
      if (operand->user_count() == 1) evaluated_.erase(operand);  // they may be large
    }
    Value result;
    if (instruction.opcode() == HloOpcode::kReshape) {
      result = reshaped(operands.front(), instruction.shape());
    } else {
      TFAOT_ASSIGN(auto made, compute(instruction, operands));
      result = std::make_shared<const xla::Literal>(std::move(made));
    }
    return evaluated_[&instruction] = result;
  }

  Result<xla::Literal> compute(const HloInstruction& instruction,
                               const std::vector<Value>& values) {
    std::vector<const xla::LiteralBase*> operands;
    absl::flat_hash_map<const HloInstruction*, const xla::LiteralBase*> substitutes;
    for (std::size_t i = 0; i < values.size(); ++i) {
      operands.push_back(values[i].get());
      substitutes[instruction.operand(static_cast<std::int64_t>(i))] = values[i].get();
    }
    auto result = evaluate_shape_op(instruction, operands);
    if (!result) {
      auto made = evaluator_.EvaluateWithSubstitutions(&instruction, substitutes);
      if (!made.ok()) return fail(internal_error(made.status()));
      result = std::move(*made);
      if (!xla::LayoutUtil::IsMonotonicWithDim0Major(result->shape().layout())) {
        result = result->Relayout(xla::LayoutUtil::GetDefaultLayoutForShape(result->shape()));
      }
    }
    return std::move(*result);
  }

  xla::HloComputation& entry_;
  std::int64_t first_weight_;
  WeightStore& store_;
  WeightValues values_;
  std::vector<std::size_t> weights_;  // behind the parameters from first_weight on
  std::set<const HloInstruction*> replaced_;
  std::map<const HloInstruction*, std::string> keys_;
  // What new parameters stand for: their values are not kept.
  std::map<const HloInstruction*, const HloInstruction*> definitions_;
  std::map<const HloInstruction*, Value> evaluated_;
  xla::HloEvaluator evaluator_;
};

}  // namespace

Result<std::vector<std::size_t>> fold_weights(xla::HloModule& module, std::int64_t first_weight,
                                              WeightStore& store) {
  return Folder(module, first_weight, store).fold();
}

}  // namespace tfaot::engine
