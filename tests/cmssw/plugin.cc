// SPDX-License-Identifier: Apache-2.0
// A plugin that holds a model; two of them are loaded into one process.
#include <tuple>

#include "PhysicsTools/TensorFlowAOT/interface/Model.h"

#include "tfaot-model-minimal/model.h"

// One row of the model.
extern "C" __attribute__((visibility("default"))) void predict(const float* x, float* y) {
  tfaot::Model<TFAOT_USER_MODELS::minimal> model;
  const tfaot::FloatArrays rows = {{x[0], x[1], x[2], x[3]}};
  const tfaot::FloatArrays result = std::get<0>(model.run<tfaot::FloatArrays>(1, rows));
  y[0] = result[0][0];
  y[1] = result[0][1];
}
