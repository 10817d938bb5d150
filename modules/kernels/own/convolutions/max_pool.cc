// SPDX-License-Identifier: Apache-2.0
// tfaot_max_pool of abi.h.
#include "convolutions/slide.h"

namespace {

struct Max : OneResult<Max> {
  static constexpr Element kStart = -kLargest<Element>;
  static Vec<Element> join(Vec<Element> a, Vec<Element> b) { return larger_of<Element>(a, b); }
  static Vec<Element> step(Vec<Element> sum, Vec<Element> input) { return join(input, sum); }
};

}  // namespace

extern "C" void TFAOT_KERNEL(max_pool)(void* out, const void** in) { pool(Max{}, out, in); }
