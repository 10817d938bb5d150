// SPDX-License-Identifier: Apache-2.0
#include "kernels/forest_calls.h"

#include <cstring>

#include "hlo/forest_call.h"
#include "kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;

Status replace_forest(HloInstruction& forest, std::vector<std::int64_t> words) {
  kernels::ForestCall call{};
  std::memcpy(&call, words.data(), sizeof call);
  KernelCall made{.kernel = "forest",
                  .words = std::move(words),
                  .operands = {forest.operands().begin(), forest.operands().end()},
                  .result = dimensions_of(forest)};
  made.scratch_bytes = kernels::forest_scratch_bytes(call, element_bytes(*forest.operand(0)));
  TFAOT_TRY(checked(forest.ReplaceAllUsesWith(add_kernel_call(made, forest))));
  return checked(forest.parent()->RemoveInstruction(&forest));
}

}  // namespace

Status replace_forests(xla::HloModule& module) {
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      std::vector<std::int64_t> words = forest_words(*instruction);
      if (!words.empty()) TFAOT_TRY(replace_forest(*instruction, std::move(words)));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
