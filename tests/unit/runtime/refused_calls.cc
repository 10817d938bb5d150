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
#elif defined(WITHOUT_ROWS)
  model.run(inputs(x, n), outputs(sum, flag));
#elif defined(NAMES_WITHOUT_ROWS)
  model.run({x, n}, {sum, flag});
#elif defined(RIGHT_NAMES)
  model.run(1, {.x = x, .n = n}, {.sum = sum, .flag = flag});
#elif defined(ASSIGNED)
  tfaot::native::Model<tfaot_model::fake>::Inputs in;
  in.x = x;
  in.n = n;
  tfaot_model::fake::Outputs out;
  out.sum = sum;
  out.flag = flag;
  model.run(1, in, out);
#elif defined(NAMED_INPUT_TYPE)
  model.run(1, {.x = x, .n = n}, {.sum = sum, .flag = flag});
  model.run(1, {.x = n, .n = n}, {.sum = sum, .flag = flag});  // wrong
  model.run(1, {.x = x, .n = n}, {.sum = sum, .flag = flag});
#elif defined(INPUT_NAME)
  model.run(1, {.x = x, .m = n}, {.sum = sum, .flag = flag});  // wrong
  model.run(1, {.x = x, .n = n}, {.sum = sum, .flag = flag});
#elif defined(OUTPUT_NAME)
  model.run(1, {.x = x, .n = n}, {.total = sum, .flag = flag});  // wrong
  model.run(1, {.x = x, .n = n}, {.sum = sum, .flag = flag});
#elif defined(NAMED_OUTPUT_TYPE)
  std::vector<double> sums;
  model.run(1, {.x = x, .n = n}, {.sum = sums, .flag = flag});  // wrong
  model.run(1, {.x = x, .n = n}, {.sum = sum, .flag = flag});
#elif defined(NAMED_CONST_OUTPUT)
  const std::vector<float> sums;
  model.run(1, {.x = x, .n = n}, {.sum = sums, .flag = flag});  // wrong
#elif defined(OTHER_ORDER)
  model.run(1, {.n = n, .x = x}, {.sum = sum, .flag = flag});  // wrong
#elif defined(TOO_MANY_NAMES)
  model.run(1, {x, n, n}, {sum, flag});  // wrong
#elif defined(ASSIGNED_TYPE)
  tfaot_model::fake::Inputs in;
  in.x = x;
  in.n = x;  // wrong
  model.run(1, in, {sum, flag});
#elif defined(ASSIGNED_NAME)
  tfaot_model::fake::Inputs in;
  in.x = x;
  in.m = n;  // wrong
  model.run(1, in, {sum, flag});
#elif defined(ASSIGNED_TEMPORARY)
  tfaot_model::fake::Outputs out;
  out.sum = std::vector<float>(2);  // wrong
  out.flag = flag;
  model.run(1, {x, n}, out);
  sum.clear();
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
