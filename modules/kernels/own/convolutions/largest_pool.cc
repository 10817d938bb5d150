// SPDX-License-Identifier: Apache-2.0
// tfaot_largest_pool of abi.h.
#include "convolutions/slide.h"

namespace {

struct Largest : OneResult<Largest> {
  static constexpr Element kStart = -static_cast<Element>(__builtin_inf());
  // larger_of() returns b if one is NaN, so only a NaN in `a` has to be kept.
  static Vec<Element> join(Vec<Element> a, Vec<Element> b) {
    const Vec<Element> larger = larger_of<Element>(a, b);
    return a != a ? a : larger;
  }
};

}  // namespace

extern "C" void TFAOT_KERNEL(largest_pool)(void* out, const void** in) { pool(Largest{}, out, in); }
