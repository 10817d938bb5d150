// SPDX-License-Identifier: Apache-2.0
#include "graph/foreign_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "graph/diagnosis.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

// Custom calls that XLA computes itself or leaves out. Sorted.
constexpr std::array<std::string_view, 9> kOfXla = {
    "Eigh",     "PadToStatic",          "ProductOfElementaryHouseholderReflectors",
    "Qr",       "SPMDFullToShardShape", "SPMDShardToFullShape",
    "Sharding", "SliceToDynamic",       "TopK"};
static_assert(std::is_sorted(kOfXla.begin(), kOfXla.end()));

constexpr std::array<std::string_view, 6> kTalkingToTheHost = {"infeed",    "outfeed", "recv",
                                                               "recv-done", "send",    "send-done"};

template <class Names>
bool is_listed(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What is wrong with an instruction.
std::optional<std::string> fault_of(const xla::HloInstructionProto& one) {
  if (is_listed(kTalkingToTheHost, one.opcode())) return "exchanges data with a host program";
  if (one.opcode() != "custom-call" || is_listed(kOfXla, one.custom_call_target())) return {};
  return fmt::format("calls the function '{}' by its name", shortened(one.custom_call_target()));
}

}  // namespace

Status check_calls(const xla::HloModuleProto& module, const std::string& label) {
  std::vector<Error> errors;
  for (const auto& computation : module.computations()) {
    for (const auto& one : computation.instructions()) {
      const auto fault = fault_of(one);
      if (!fault) continue;
      const HloName name{one.opcode(), one.name()};
      const std::string& node = one.metadata().op_name();
      errors.push_back(Error(fmt::format("{} cannot be compiled: {} {}", label,
                                         describe_instruction(name, one.metadata()), *fault))
                           .note("a compiled model only computes: do this part outside of it")
                           .about(word_of(ProblemKind::kForeignCall),
                                  {node.empty() ? std::string(one.name()) : node}));
    }
  }
  return all_or_first(std::move(errors));
}

}  // namespace tfaot::toolkit::engine
