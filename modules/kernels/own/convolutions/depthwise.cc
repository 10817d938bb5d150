// SPDX-License-Identifier: Apache-2.0
// tfaot_depthwise of abi.h.
#include "convolutions/phases.h"

extern "C" void TFAOT_KERNEL(depthwise)(void* out, const void** in) {
  const auto& call = *static_cast<const ConvolutionCall*>(in[0]);
  auto* const* const results = static_cast<void* const*>(out);
  const MoreOperands more = more_operands(call, in);
  const MultiplyAdd op = {more.bias, rectifier_of(call.epilogue)};
  Phases(op, call, more, in)
      .run(static_cast<const Element*>(in[1]), static_cast<Element*>(results[0]));
}
