// SPDX-License-Identifier: Apache-2.0
// tfaot_largest_pool of abi.h.
#include "convolutions/pool.h"

namespace {

struct Largest {
  using State = Vec<Element>;
  static constexpr int kResults = 1;
  static constexpr Filter kFilter = Filter::kNone;
  template <bool kPart>
  Vec<Element> start(Int /*channel*/, Int /*count*/) const {
    return Vec<Element>{} - static_cast<Element>(__builtin_inf());
  }
  // larger_of() returns b if one is NaN, so only a NaN in `a` has to be kept.
  static Vec<Element> join(Vec<Element> a, Vec<Element> b) {
    const Vec<Element> larger = larger_of<Element>(a, b);
    return a != a ? a : larger;
  }
  static Vec<Element> step(Vec<Element> sum, Vec<Element> input) { return join(sum, input); }
  Vec<Element> finish(Vec<Element> sum, int /*result*/) const { return sum; }
};

}  // namespace

extern "C" void TFAOT_KERNEL(largest_pool)(void* out, const void** in) { pool(Largest{}, out, in); }
