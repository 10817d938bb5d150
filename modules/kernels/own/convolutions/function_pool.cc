// SPDX-License-Identifier: Apache-2.0
// tfaot_function_pool of abi.h. A window's largest value is that of its largest or of its
// smallest number. In the registers of each tile of range_pool.cc, the function would have a
// hundred copies.
#include "convolutions/image.h"

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
    activate({range, 2 * size, 1, 2 * size, &call.function});
    along_row(size, [&](Int j, Int count) {
      const Floats high = load_some(range + j, count), low = load_some(range + size + j, count);
      store_some(y + j, larger_of<float>(low, high), count);
    });
    x += some.batch * input_elements(some.window, some.channels);
    y += size;
  }
}
