// SPDX-License-Identifier: Apache-2.0
// Never run: headers that tfaot 0.2 made (tests/golden/headers_of_0_2) must compile with the
// runtime of today.
#include <vector>

#include "tfaot-model-test/model.h"

void use(std::size_t rows);
void use(std::size_t rows) {
  tfaot::native::Model<tfaot_model::test> model;
  std::vector<float> x(rows * 4);
  std::vector<float> y(rows * 2);
  model.run(rows, tfaot::inputs(x), tfaot::outputs(y));
  model.run(rows, x, y);
  model.run(rows, {x}, {y});
  tfaot::native::Model<tfaot_model::test>::Inputs in = tfaot::inputs(x);
  model.run(rows, in, tfaot::outputs(y));
  static_cast<void>(model.signature());
  tfaot::Model<tfaot_model::test> compatible;
  tfaot::FloatArrays rows_of_x(rows, std::vector<float>(4));
  static_cast<void>(compatible.run<tfaot::FloatArrays>(rows, rows_of_x));
}
