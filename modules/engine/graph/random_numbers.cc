// SPDX-License-Identifier: Apache-2.0
#include "graph/random_numbers.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/diagnosis.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool draws(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kRng ||
      instruction.opcode() == HloOpcode::kRngGetAndUpdateState ||
      instruction.opcode() == HloOpcode::kRngBitGenerator) {
    return true;
  }
  return draws_random_numbers(instruction.metadata().op_type());
}

std::string describe(const HloInstruction& instruction) {
  const auto& node = instruction.metadata();
  if (node.op_type().empty()) return fmt::format("'{}'", instruction.name());
  return fmt::format("op '{}' (node '{}')", node.op_type(), node.op_name());
}

// All instructions that the results need, including those in loops, branches and calls.
std::vector<const HloInstruction*> needed_instructions(const xla::HloModule& module) {
  std::vector<const HloInstruction*> needed = {module.entry_computation()->root_instruction()};
  std::set<const HloInstruction*> seen(needed.begin(), needed.end());
  const auto add = [&](const HloInstruction* instruction) {
    if (seen.insert(instruction).second) needed.push_back(instruction);
  };
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const HloInstruction& instruction = *needed[i];
    for (const auto* operand : instruction.operands()) add(operand);
    for (const auto* called : instruction.called_computations()) add(called->root_instruction());
  }
  return needed;
}

}  // namespace

Status check_random_numbers(const xla::HloModule& module) {
  std::set<std::string> drawing;
  std::set<std::string> nodes;
  for (const auto* instruction : needed_instructions(module)) {
    if (!draws(*instruction)) continue;
    drawing.insert(describe(*instruction));
    const std::string& node = instruction->metadata().op_name();
    nodes.insert(node.empty() ? std::string(instruction->name()) : node);
  }
  if (drawing.empty()) return {};
  Error error(fmt::format("the model draws random numbers when it runs, by {}", *drawing.begin()));
  for (auto one = std::next(drawing.begin()); one != drawing.end(); ++one) {
    error.note("and by " + *one);
  }
  return fail(
      std::move(error)
          .note("compiled code would draw other numbers than TensorFlow")
          .note(
              "export an inference-only signature (training=False: no dropout, no noise), or make "
              "the noise an input")
          .about(word_of(ProblemKind::kRandom), {nodes.begin(), nodes.end()}));
}

}  // namespace tfaot::toolkit::engine
