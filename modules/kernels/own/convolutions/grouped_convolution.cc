// SPDX-License-Identifier: Apache-2.0
// tfaot_grouped_convolution of abi.h.
#include "convolutions/phases.h"

namespace {

struct GroupsMultiplyAdd : MultiplyAdd {
  static constexpr Filter kFilter = Filter::kOfGroups;
  Int inputs, outputs;  // channels of a group
  Int filter_row;       // elements from one channel of a group's input to the next
};

}  // namespace

extern "C" void TFAOT_KERNEL(grouped_convolution)(void* out, const void** in) {
  const auto& call = *static_cast<const ConvolutionCall*>(in[0]);
  auto* const* const results = static_cast<void* const*>(out);
  const MoreOperands more = more_operands(call, in);
  const GroupsMultiplyAdd op = {{more.bias, rectifier_of(call.epilogue)},
                                call.in_channels / call.groups,
                                call.out_channels / call.groups,
                                call.out_channels};
  Phases(op, call, more, in)
      .run(static_cast<const Element*>(in[1]), static_cast<Element*>(results[0]));
}
