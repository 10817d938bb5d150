// SPDX-License-Identifier: Apache-2.0
// Operations that keep their names from the reader to the kernel: XLA's composites, which are calls
// of computations in plain HLO, with a name and numbers. What masks or other rewrites would leave
// of an operation need not be recognised then. Used by one thread.
#pragma once

#include "compiler/hlo/hlo.h"
#include "xla/client/xla_builder.h"

namespace tfaot::toolkit::engine {

// Calls `body`, which computes the same. `name`, `numbers`: as a row of composites.def says.
xla::XlaOp composite(const std::string& name, const std::vector<std::int64_t>& numbers,
                     const xla::XlaComputation& body, absl::Span<const xla::XlaOp> operands);

// The result of the kernel that computes such a call; null: none does.
#define TFAOT_COMPOSITE(name, numbers) \
  HloInstruction* taken_##name(HloInstruction&, const std::vector<std::int64_t>&);
#include "compiler/kernels/composites.def"
#undef TFAOT_COMPOSITE

}  // namespace tfaot::toolkit::engine
