// SPDX-License-Identifier: Apache-2.0
// What the config says about how a model may be computed.
#pragma once

#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

struct Choices {
  WeightsType weights_type = WeightsType::kFloat32;  // of products
  // Whether results may round with numbers that are not their own: those of other windows, or of
  // a shift that cancels. XLA's flag of this name.
  bool fast_math = true;
};

}  // namespace tfaot::toolkit::engine
