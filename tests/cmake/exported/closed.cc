// SPDX-License-Identifier: Apache-2.0
#include "closed.h"

#include "tfaot-model-minimal/model.h"

std::vector<float> closed_predictions(const std::vector<float>& x) {
  tfaot::native::Model<tfaot_model::minimal> model;
  std::vector<float> y(x.size() / 2);
  model.run(x.size() / 4, x, y);
  return y;
}
