// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"

namespace tfaot::toolkit::engine {

// Two's complement and floating point alike give back x in every bit.
Status remove_double_negation(xla::HloInstruction& outer, PassContext& /*context*/) {
  xla::HloInstruction* x = nullptr;
  if (!xla::Match(&outer, m::Negate(m::Negate(m::Op(&x))))) return {};
  return replace(outer, x);
}

}  // namespace tfaot::toolkit::engine
