// SPDX-License-Identifier: Apache-2.0
// tfaot_max_pool of abi.h.
#include "convolutions/pool.h"

namespace {

struct Max {
  using State = Vec<Element>;
  static constexpr int kResults = 1;
  static constexpr Filter kFilter = Filter::kNone;
  template <bool kPart>
  Vec<Element> start(Int /*channel*/, Int /*count*/) const {
    return Vec<Element>{} - kLargest<Element>;
  }
  static Vec<Element> step(Vec<Element> sum, Vec<Element> input) {
    return larger_of<Element>(input, sum);
  }
  static Vec<Element> join(Vec<Element> a, Vec<Element> b) { return larger_of<Element>(a, b); }
  Vec<Element> finish(Vec<Element> sum, int /*result*/) const { return sum; }
};

}  // namespace

extern "C" void TFAOT_KERNEL(max_pool)(void* out, const void** in) { pool(Max{}, out, in); }
