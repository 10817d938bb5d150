// SPDX-License-Identifier: Apache-2.0
#include "tfaot-model-MixedNet/model.h"
#include "tfaot-model-test/model.h"

const tfaot::Description& of_second_unit();
const tfaot::Description& of_second_unit() {
  static const bool named = cms::models::MixedNet::description().name != nullptr;
  return named ? tfaot_model::test::description() : cms::models::MixedNet::description();
}
