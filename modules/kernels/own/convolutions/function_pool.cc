// SPDX-License-Identifier: Apache-2.0
// tfaot_function_pool of abi.h. A window's largest value is that of its largest or of its
// smallest number. In the registers of each tile of range_pool.cc, the function would have a
// hundred copies.
#include "convolutions/image.h"
#include "simd/functions.h"

namespace {

// range: `size` largest numbers, then `size` smallest ones.
template <typename Function>
__attribute__((noinline)) void take_larger(float* y, const float* range, Int size,
                                           const ResultFunction& of) {
  const Function function = {};
  const FunctionNumbers numbers(of);
  along_row(size, [&](Int j, Int count) {
    const Floats high = function(load_some(range + j, count), numbers);
    const Floats low = function(load_some(range + size + j, count), numbers);
    store_some(y + j, larger_of<float>(low, high), count);
  });
}

void take_larger(float* y, const float* range, Int size, const ResultFunction& of) {
  switch (of.kind) {
    case kFunctionSwish:
      return take_larger<SwishOf>(y, range, size, of);
    case kFunctionGelu:
      return take_larger<GeluOf<kGeluErf>>(y, range, size, of);
    case kFunctionGeluTanh:
      return take_larger<GeluOf<kGeluTanh>>(y, range, size, of);
    default:
      return;
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(range_pool)(void* out, const void** in);

extern "C" void TFAOT_KERNEL(function_pool)(void* out, const void** in) {
  const auto& call = call_of<FunctionPoolCall>(in);
  const auto* x = operand(in, 1);
  auto* y = result(out, 0);
  auto* const range = result(out, 1);
  PoolCall some = call.pool;
  const Int images = function_pool_images(call.pool);
  for (Int rest = call.pool.batch; rest > 0; rest -= images) {
    some.batch = smaller(images, rest);
    const void* of[] = {&some, x};
    TFAOT_KERNEL(range_pool)(range, of);
    const Int size = some.batch * pooled_elements(some);
    take_larger(y, range, size, call.function);
    x += some.batch * input_elements(some.window, some.channels);
    y += size;
  }
}
