// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/share_kernels.h"

#include <algorithm>
#include <map>

#include "compiler/cost/static_cost.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/kernel_facts.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;

// The time of a call that is worth several threads, in picoseconds: a few times what handing pieces
// out and waiting for the last one takes.
constexpr double kWorthwhile = 20e6;
// Every level has the same HLO, so the one in the middle decides.
constexpr const char* kLevel = "x86_64_v3";

}  // namespace

Status share_kernels(xla::HloModule& module, PassContext& context) {
  xla::HloComputation& entry = *module.entry_computation();
  const auto costs = kernel_costs(module, {context.inputs, 0, kLevel});
  std::vector<HloInstruction*> able;
  for (HloInstruction* one : entry.MakeInstructionPostOrder()) {
    const auto cost = costs.find(one);
    if (cost == costs.end() || cost->second < kWorthwhile || shared_words(*one).empty()) continue;
    able.push_back(one);
  }
  if (able.empty()) return {};
  HloInstruction* const tasks = entry.AddEntryComputationParameter(
      HloInstruction::CreateParameter(entry.num_parameters(), shape_of(xla::S64, {}), "tasks"));
  for (HloInstruction* kernel : able) {
    TFAOT_TRY(extend_kernel_call(*kernel, shared_words(*kernel), tasks));
  }
  context.has_tasks = true;
  return {};
}

std::int64_t lane_bytes(const xla::HloModule& module) {
  std::int64_t most = 0;
  for (const auto* one : module.entry_computation()->instructions()) {
    if (is_shared(*one)) most = std::max(most, kernel_scratch_bytes(*one));
  }
  return most;
}

}  // namespace tfaot::toolkit::engine
