// SPDX-License-Identifier: Apache-2.0
// The config's choices about how a model may be computed.
#pragma once

#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

struct Choices {
  WeightsType weights_type = WeightsType::kFloat32;  // of products
  // Results may round with numbers that are not their own: those of other windows, or of a shift
  // that cancels. The config's XLA flag of this name.
  bool fast_math = true;
  Optimization optimize = Optimization::kSpeed;

  // True if products may have weights that are sums or products of the model's. Not where those
  // would lose too much: a column of int8 has one scale for all rows, and float16 has few
  // exponents.
  bool may_join_weights() const {
    return fast_math &&
           (weights_type == WeightsType::kFloat32 || weights_type == WeightsType::kBfloat16);
  }
};

}  // namespace tfaot::toolkit::engine
