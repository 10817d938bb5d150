// SPDX-License-Identifier: Apache-2.0
// A plugin of the walk: opened by a program that knows neither tfaot nor the model.
#include <cstddef>
#include <vector>

#include "tfaot-model-minimal/model.h"

extern "C" int predict(const float* rows, std::size_t count, float* results) {
  const std::vector<float> inputs(rows, rows + count * 4);
  std::vector<float> outputs(count * 2);
  tfaot::native::Model<tfaot_model::minimal> model;
  model.run(count, tfaot::inputs(inputs), tfaot::outputs(outputs));
  for (std::size_t i = 0; i < outputs.size(); ++i) results[i] = outputs[i];
  return 0;
}
