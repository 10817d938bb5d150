// SPDX-License-Identifier: Apache-2.0
// tfaot_depthwise of abi.h.
#include "convolutions/slide.h"

extern "C" void TFAOT_KERNEL(depthwise)(void* out, const void** in) {
  const auto& call = call_of<ConvolutionCall>(in);
  const EpilogueOperands more = epilogue_of(call, in);
  slide_phases(MultiplyAdd{more.bias, rectifier_of(call.epilogue)}, call, more, out, in);
}
