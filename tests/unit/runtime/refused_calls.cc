// SPDX-License-Identifier: Apache-2.0
// Calls of run() that must not compile; refused_calls.cmake has the reasons.
#include <vector>

#include "tests/unit/runtime/fake_model.h"
#include "tfaot/runtime/native_model.h"

using tfaot::inputs;
using tfaot::outputs;

void call(tfaot::native::Model<tfaot_model::fake>& model) {
  std::vector<float> x;
  std::vector<std::int64_t> n;
  std::vector<float> sum;
  bool flag[1] = {};
#if defined(RIGHT)
  model.run(1, inputs(x, n), outputs(sum, flag));
  model.run(1, {x, n}, {sum, flag});
  model.run(1, std::tuple<tfaot::Span<float>, tfaot::Span<std::int64_t>>(x, n), outputs(sum, flag));
#elif defined(INPUT_TYPE)
  model.run(1, inputs(x, std::vector<short>()), outputs(sum, flag));
#elif defined(SWAPPED_INPUTS)
  model.run(1, inputs(n, x), outputs(sum, flag));
#elif defined(OUTPUT_TYPE)
  std::vector<double> sums;
  model.run(1, inputs(x, n), outputs(sums, flag));
#elif defined(CONST_OUTPUT)
  const std::vector<float> sums;
  model.run(1, inputs(x, n), outputs(sums, flag));
#elif defined(TOO_FEW_INPUTS)
  model.run(1, inputs(x), outputs(sum, flag));
#elif defined(TOO_MANY_INPUTS)
  model.run(1, inputs(x, n, n), outputs(sum, flag));
#elif defined(TOO_FEW_OUTPUTS)
  model.run(1, inputs(x, n), outputs(sum));
#endif
}
