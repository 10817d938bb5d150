// SPDX-License-Identifier: Apache-2.0
#include "user_code_more.h"

#include <tuple>

#include "PhysicsTools/TensorFlowAOT/interface/Model.h"

#include "tfaot-model-minimal/model.h"

tfaot::FloatArrays predict_in_another_file(const tfaot::FloatArrays& x) {
  tfaot::Model<TFAOT_USER_MODELS::minimal> model;
  return std::get<0>(model.run<tfaot::FloatArrays>(x.size(), x));
}
