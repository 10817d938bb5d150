// SPDX-License-Identifier: Apache-2.0
// tfaot_grouped_convolution of abi.h.
#include "convolutions/slide.h"

namespace {

struct GroupsMultiplyAdd : MultiplyAdd {
  static constexpr Filter kFilter = Filter::kOfGroups;
  Int inputs, outputs;  // channels of a group
  Int filter_row;       // elements from one channel of a group's input to the next
};

}  // namespace

extern "C" void TFAOT_KERNEL(grouped_convolution)(void* out, const void** in) {
  const auto& call = call_of<ConvolutionCall>(in);
  const EpilogueOperands more = epilogue_of(call, in);
  const GroupsMultiplyAdd op = {{more.bias, rectifier_of(call.epilogue)},
                                call.in_channels / call.groups,
                                call.out_channels / call.groups,
                                call.out_channels};
  slide_phases(op, call, more, out, in);
}
