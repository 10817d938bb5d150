// SPDX-License-Identifier: Apache-2.0
// Conditions whose choice is known become the branch that is taken. XLA's own simplifier keeps them
// if one of the branches draws random numbers, as that of a dropout does.
#pragma once

#include "xla/hlo/pass/hlo_pass_interface.h"

namespace tfaot::toolkit::engine {

class KnownBranches : public xla::HloModulePass {
 public:
  absl::string_view name() const override { return "tfaot-known-branches"; }

  using HloPassInterface::Run;
  absl::StatusOr<bool> Run(
      xla::HloModule* module,
      const absl::flat_hash_set<absl::string_view>& execution_threads) override;
};

}  // namespace tfaot::toolkit::engine
