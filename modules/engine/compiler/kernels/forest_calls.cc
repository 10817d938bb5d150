// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "compiler/hlo/build.h"
#include "compiler/hlo/forest_call.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

Status replace_forest(xla::HloInstruction& forest, PassContext& /*context*/) {
  std::vector<std::int64_t> words = forest_words(forest);
  if (words.empty()) return {};
  kernels::ForestCall call{};
  std::memcpy(&call, words.data(), sizeof call);
  KernelCall made{.kernel = Kernel::kForest,
                  .words = std::move(words),
                  .operands = {forest.operands().begin(), forest.operands().end()},
                  .result = dimensions_of(forest)};
  made.scratch_bytes = kernels::forest_scratch_bytes(call, element_bytes(*forest.operand(0)));
  TFAOT_TRY(replace(forest, add_kernel_call(made, forest)));
  return checked(forest.parent()->RemoveInstruction(&forest));
}

}  // namespace tfaot::toolkit::engine
