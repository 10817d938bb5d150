// SPDX-License-Identifier: Apache-2.0
// Passes of the optimizer's table, by name, as the optimizer runs them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "compiler/code/optimize.h"

namespace tfaot::toolkit::testing {

// The passes from `first` to `last`. Parameters from `inputs` on are weights.
inline Status run_passes(std::string_view first, std::string_view last, xla::HloModule& module,
                         std::int64_t inputs = 0, const engine::Choices& choices = {}) {
  engine::PassContext context{module, inputs, choices};
  bool is_between = false;
  for (const engine::Pass& pass : engine::passes()) {
    is_between = is_between || pass.name == first;
    if (!is_between) continue;
    TFAOT_TRY(pass.run(context));
    if (pass.name == last) return {};
  }
  ADD_FAILURE() << "no passes from " << first << " to " << last;
  return {};
}

inline Status run_pass(std::string_view name, xla::HloModule& module, std::int64_t inputs = 0,
                       const engine::Choices& choices = {}) {
  return run_passes(name, name, module, inputs, choices);
}

// The pass that sets `flag`; returns the flag.
inline Result<bool> run_pass_for(std::string_view name, bool engine::PassContext::*flag,
                                 xla::HloModule& module, std::int64_t inputs) {
  const engine::Choices choices;
  engine::PassContext context{module, inputs, choices};
  TFAOT_TRY(engine::find_pass(name)->run(context));
  return context.*flag;
}

// The texts of the pass's remarks.
inline std::vector<std::string> remarks_of(std::string_view name, xla::HloModule& module) {
  const engine::Choices choices;
  engine::PassContext context{module, module.entry_computation()->num_parameters(), choices};
  EXPECT_TRUE(engine::find_pass(name)->run(context));
  std::vector<std::string> texts;
  for (const engine::Remark& remark : context.remarks) {
    texts.push_back(remark.instruction + ": " + remark.text);
  }
  return texts;
}

inline Status run_kernel_passes(xla::HloModule& module, std::int64_t inputs = 0,
                                const engine::Choices& choices = {}) {
  return run_passes("replace_dot", "replace_reduction", module, inputs, choices);
}

}  // namespace tfaot::toolkit::testing
