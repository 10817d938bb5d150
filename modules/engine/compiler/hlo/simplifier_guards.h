// SPDX-License-Identifier: Apache-2.0
// Guards operations against rules of XLA's simplifier that hold for mathematical numbers alone. It
// takes every square for non-negative, also one of whole numbers that overflows, and merges
// operations although the merged one overflows, meets NaN or rounds where the separate ones do not.
// A guarded operand has the same value in a form that no rule knows. The guards stay for XLA's own
// run of its simplifier, and take no time in the code.
#pragma once

#include "xla/hlo/pass/hlo_pass_interface.h"

namespace tfaot::toolkit::engine {

class SimplifierGuards : public xla::HloModulePass {
 public:
  absl::string_view name() const override { return "tfaot-simplifier-guards"; }

  using HloPassInterface::Run;
  absl::StatusOr<bool> Run(
      xla::HloModule* module,
      const absl::flat_hash_set<absl::string_view>& execution_threads) override;
};

}  // namespace tfaot::toolkit::engine
