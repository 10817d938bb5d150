// SPDX-License-Identifier: Apache-2.0
// Computes ahead everything that depends only on weights and constants. Results that need a weight
// become weights themselves, never constants: otherwise new weights would need recompilation.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/evaluate.h"
#include "compiler/hlo/passes.h"
#include "tfaot/base/hash.h"

namespace tfaot::toolkit::engine {
namespace {

class Folder {
 public:
  Folder(xla::HloModule& module, std::int64_t first_weight, WeightStore& store, bool folds_single)
      : folds_single_(folds_single),
        entry_(*module.entry_computation()),
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
      const bool is_last =
          instruction->IsRoot() ||
          std::ranges::any_of(users, [&](const auto* user) { return !values_.is_known(user); });
      if (!values_.is_known(instruction) || !is_last) continue;
      const bool is_left = values_.is_weight(instruction) && elements_of(*instruction) == 1;
      if (is_left && !folds_single_) continue;
      TFAOT_TRY(replace(*instruction, instruction->metadata().op_name() == kPackedName));
    }
    return weights_;
  }

 private:
  Status replace(HloInstruction& instruction, bool is_packed) {
    if (instruction.opcode() == kParameter || instruction.opcode() == kConstant) {
      return {};
    }
    // A reshape changes no byte, so its operand will do.
    if (instruction.opcode() == kReshape && values_.is_known(instruction.operand(0))) {
      return replace(*instruction.mutable_operand(0), is_packed);
    }
    if (replaced_.contains(&instruction)) return {};
    replaced_.insert(&instruction);
    HloInstruction* made = nullptr;
    if (values_.is_weight(&instruction)) {
      TFAOT_ASSIGN(made, parameter(instruction, is_packed));
    } else {
      TFAOT_ASSIGN(const auto value, evaluator().value(instruction));
      made = entry_.AddInstruction(HloInstruction::CreateConstant(value->Clone()));
    }
    return checked(instruction.ReplaceAllUsesWith(made));
  }

  Result<HloInstruction*> parameter(const HloInstruction& instruction, bool is_packed) {
    const std::string key = key_of(instruction);
    auto index = store_.find(key);
    if (!index) {
      const auto feed = [&](const ChunkSink& sink) { return evaluator().feed(instruction, sink); };
      TFAOT_ASSIGN(index, store_.add(key, weight_made_by(instruction, is_packed),
                                     instruction.shape(), feed));
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

  // Its name: "dense/kernel, packed".
  WeightOrigin weight_made_by(const HloInstruction& instruction, bool is_packed) const {
    WeightOrigin made;
    std::vector<std::string> names;
    std::set<const HloInstruction*> seen;
    collect_origin(instruction, seen, names, made);
    const std::string how = is_packed ? kPackedName : "folded";
    made.name = names.size() == 1
                    ? fmt::format("{}, {}", names.front(), how)
                    : fmt::format("{} and {} more, {}", names.front(), names.size() - 1, how);
    return made;
  }

  // `names`: of the weights that it depends on.
  void collect_origin(const HloInstruction& instruction, std::set<const HloInstruction*>& seen,
                      std::vector<std::string>& names, WeightOrigin& made) const {
    if (!seen.insert(&instruction).second) return;
    for (const auto* operand : instruction.operands()) {
      collect_origin(*operand, seen, names, made);
    }
    const auto add = [](std::vector<std::string>& list, const std::string& name) {
      if (!absl::c_linear_search(list, name)) list.push_back(name);
    };
    if (instruction.opcode() == kParameter) {
      const std::size_t weight = weight_of(instruction);
      names.push_back(store_.name(weight));
      for (const auto& name : store_.origin(weight).variables) add(made.variables, name);
      for (const auto& name : store_.origin(weight).operations) add(made.operations, name);
    } else if (instruction.opcode() != kConstant) {
      add(made.operations, std::string(xla::HloOpcodeString(instruction.opcode())));
    }
  }

  std::size_t weight_of(const HloInstruction& parameter) const {
    return weights_.at(static_cast<std::size_t>(parameter.parameter_number() - first_weight_));
  }

  // Identifies what an instruction computes and from what, in any module and any process.
  std::string key_of(const HloInstruction& instruction) {
    auto& key = keys_[&instruction];
    if (!key.empty()) return key;
    if (instruction.opcode() == kParameter) {
      return key = "weight " + store_.key(weight_of(instruction));
    }
    xla::CanonicalNameMap names;
    xla::StringPrinter printer;
    instruction.PrintWithCanonicalNameMap(
        &printer, xla::HloPrintOptions::Canonical().set_print_metadata(false), &names);
    std::string text = std::move(printer).ToString();
    if (instruction.opcode() == kConstant) {
      const auto& literal = instruction.literal();
      text += std::string_view(static_cast<const char*>(literal.untyped_data()),
                               static_cast<std::size_t>(literal.size_bytes()));
    }
    for (const auto* operand : instruction.operands()) text += "\n" + key_of(*operand);
    return keys_[&instruction] = sha256_of(text);
  }

  // For a parameter that folding made, computes the value again: values are not kept.
  Result<Value> parameter_value(const HloInstruction& instruction) {
    const auto definition = definitions_.find(&instruction);
    if (definition == definitions_.end()) return store_.value(weight_of(instruction));
    return evaluator().value(*definition->second);
  }

  Evaluator evaluator() {
    return Evaluator(
        [this](const HloInstruction& parameter) { return parameter_value(parameter); });
  }

  const bool folds_single_;
  xla::HloComputation& entry_;
  std::int64_t first_weight_;
  WeightStore& store_;
  WeightValues values_;
  std::vector<std::size_t> weights_;  // of the parameters from first_weight on
  std::set<const HloInstruction*> replaced_;
  std::map<const HloInstruction*, std::string> keys_;
  // The instructions that new parameters replace.
  std::map<const HloInstruction*, const HloInstruction*> definitions_;
};

}  // namespace

Status fold_weights(xla::HloModule& module, PassContext& context) {
  if (context.weights == nullptr) return fail(Error("there are no weights to fold"));
  TFAOT_ASSIGN(
      context.known,
      Folder(module, context.inputs, *context.weights, context.choices.folds_single).fold());
  return {};
}

}  // namespace tfaot::toolkit::engine
