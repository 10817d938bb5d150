// SPDX-License-Identifier: Apache-2.0
// Runs the passes of the optimizer (hlo/passes.def). Used by one thread.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "compiler/hlo/passes.h"

namespace tfaot::toolkit::engine {

struct Pass {
  std::string_view name;
  Status (*run)(PassContext& context);  // over the module, then dead code is removed
  std::string_view why;
  Facts needs, gives, ends;
  std::string_view stage;
  bool is_of_one;  // instruction
};
// They hold of a module as it was lowered.
inline constexpr Facts kLoweredFacts = {Fact::kAsLowered, Fact::kPlainGathers, Fact::kPlainSums,
                                        Fact::kPlainConcatenations, Fact::kOperandShapes};

// In the order in which they run.
std::span<const Pass> passes();
// Null if there is none of this name.
const Pass* find_pass(std::string_view name);

// Called after each pass that ran.
using PassViewer = std::function<Status(const Pass& pass)>;
// Runs all passes, up to and with `last` if it is not empty. REQUIRES: `last` is a pass.
Status run_passes(PassContext& context, std::string_view last = {}, const PassViewer& viewer = {});

}  // namespace tfaot::toolkit::engine
