// SPDX-License-Identifier: Apache-2.0
#include "tfaot-model-minimal/model.h"

extern "C" std::size_t batch_sizes() {
  return tfaot::native::Model<tfaot_model::minimal>().batch_sizes().size();
}
