// SPDX-License-Identifier: Apache-2.0
// Large kernels share their work among tasks of the runtime, if it has some. They get the address
// of the tasks (abi.h) as their last operand, which is a parameter after all others. Kernels in
// loops and branches, and those too small to be worth the threads, stay as they are.
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

}  // namespace

Status share_kernels(xla::HloModule& module, PassContext& context) {
  xla::HloComputation& entry = *module.entry_computation();
  const auto costs = kernel_costs(module, {context.inputs, 0, kUsualKernels});
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

}  // namespace tfaot::toolkit::engine
