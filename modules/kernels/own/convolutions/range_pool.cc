// SPDX-License-Identifier: Apache-2.0
// tfaot_range_pool of abi.h.
#include "convolutions/slide.h"

namespace {

struct Range {
  struct State {
    Vec<Element> high, low;
  };
  static constexpr int kResults = 2;
  static constexpr Filter kFilter = Filter::kNone;
  template <bool kPart>
  State start(Int /*channel*/, Int /*count*/) const {
    const Vec<Element> none = {};
    return {none - kLargest<Element>, none + kLargest<Element>};
  }
  static State step(const State& state, Vec<Element> input) {
    return {larger_of<Element>(input, state.high), smaller_of<Element>(input, state.low)};
  }
  static State join(const State& a, const State& b) {
    return {larger_of<Element>(a.high, b.high), smaller_of<Element>(a.low, b.low)};
  }
  Vec<Element> finish(const State& state, int result) const {
    return result == 0 ? state.high : state.low;
  }
};

}  // namespace

extern "C" void TFAOT_KERNEL(range_pool)(void* out, const void** in) { pool(Range{}, out, in); }
