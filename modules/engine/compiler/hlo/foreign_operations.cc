// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/foreign_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "compiler/hlo/passes.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

// The start of their names.
constexpr std::array<std::string_view, 11> kRandomOps = {
    "Multinomial",     "ParameterizedTruncatedNormal", "Random",
    "StatefulRandom",  "StatefulStandardNormal",       "StatefulTruncatedNormal",
    "StatefulUniform", "StatelessMultinomial",         "StatelessParameterized",
    "StatelessRandom", "StatelessTruncatedNormal"};
constexpr std::string_view kOtherRandomOps = "TruncatedNormal XlaRngBitGenerator";

// Custom calls that XLA computes itself or leaves out. Sorted.
constexpr std::string_view kOfXla =
    "Eigh PadToStatic ProductOfElementaryHouseholderReflectors Qr SPMDFullToShardShape "
    "SPMDShardToFullShape Sharding SliceToDynamic TopK";

constexpr std::string_view kTalkingToTheHost = "infeed outfeed recv recv-done send send-done";

std::optional<std::string> fault_of(const xla::HloInstructionProto& one) {
  if (is_listed(kTalkingToTheHost, one.opcode())) return "exchanges data with a host program";
  if (one.opcode() != "custom-call" || is_listed(kOfXla, one.custom_call_target())) return {};
  return fmt::format("calls the function '{}' by its name", shortened(one.custom_call_target()));
}

bool draws(const HloInstruction& instruction) {
  return xla::HloPredicateIsOp<kRng, kRngGetAndUpdateState, kRngBitGenerator>(&instruction) ||
         draws_random_numbers(instruction.metadata().op_type());
}

// All instructions that the results need, including those in loops, branches and calls.
std::vector<const HloInstruction*> needed_instructions(const xla::HloModule& module) {
  const auto needs = [](const HloInstruction& one) {
    std::vector<HloInstruction*> needed(one.operands().begin(), one.operands().end());
    for (auto* called : one.called_computations()) needed.push_back(called->root_instruction());
    return needed;
  };
  return reached_from(std::as_const(*module.entry_computation()->root_instruction()), needs);
}

}  // namespace

bool is_listed(std::string_view words, std::string_view word) {
  return !word.empty() && absl::c_linear_search(absl::StrSplit(words, ' '), word);
}

std::string shortened(const std::string& name) {
  constexpr std::size_t kShown = 300;
  return name.size() <= kShown ? name : name.substr(0, kShown) + "...";
}

std::string describe_instruction(const HloName& name, const xla::OpMetadata& metadata) {
  std::string hlo = fmt::format("HLO {} '{}'", name.opcode, shortened(std::string(name.name)));
  if (metadata.op_name().empty()) return hlo;
  return fmt::format("op '{}' (node '{}', {})", shortened(metadata.op_type()),
                     shortened(metadata.op_name()), hlo);
}

std::string describe_node(const HloInstruction& one) {
  const auto& node = one.metadata();
  if (node.op_type().empty()) return fmt::format("'{}'", shortened(name_of_node(one)));
  return fmt::format("op '{}' (node '{}')", shortened(node.op_type()), shortened(node.op_name()));
}

bool draws_random_numbers(std::string_view operation) {
  return std::ranges::any_of(
             kRandomOps, [&](std::string_view start) { return operation.starts_with(start); }) ||
         is_listed(kOtherRandomOps, operation);
}

Status check_calls(const xla::HloModuleProto& module, const std::string& label) {
  std::vector<Error> errors;
  for (const auto& computation : module.computations()) {
    for (const auto& one : computation.instructions()) {
      const auto fault = fault_of(one);
      if (!fault) continue;
      const HloName name{one.opcode(), one.name()};
      errors.push_back(Error(fmt::format("{} cannot be compiled: {} {}", label,
                                         describe_instruction(name, one.metadata()), *fault))
                           .note("a compiled model only computes: do this part outside of it")
                           .about(word_of(ProblemKind::kForeignCall), {name_of_node(one)}));
    }
  }
  return all_or_first(std::move(errors));
}

Status check_random_numbers(const xla::HloModule& module) {
  std::set<std::string> drawing;
  std::set<std::string> nodes;
  for (const auto* instruction : needed_instructions(module)) {
    if (!draws(*instruction)) continue;
    drawing.insert(describe_node(*instruction));
    nodes.insert(name_of_node(*instruction));
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

Status check_random_numbers(xla::HloModule& module, PassContext& /*context*/) {
  return check_random_numbers(std::as_const(module));
}

}  // namespace tfaot::toolkit::engine
