// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tfaot-model-minimal/model.h"

class Scorer {
 public:
  std::vector<float> predictions(const std::vector<float>& x);

 private:
  tfaot::native::Model<tfaot_model::minimal> model_;
};
