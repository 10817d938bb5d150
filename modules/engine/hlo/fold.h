// SPDX-License-Identifier: Apache-2.0
// Computes ahead everything that depends only on weights and constants. Results that need a weight
// become weights themselves, never constants: if code depended on values, it could not be used with
// new ones. Used by one thread.
#pragma once

#include "hlo/hlo.h"
#include "hlo/weight_store.h"

namespace tfaot::toolkit::engine {

// The name of packed tensors: the op_name of the instruction that makes them.
inline constexpr const char* kPackedName = "packed";

// REQUIRES: parameter first_weight + i of the entry computation is weight i of the store, for the
// first weights of the store. Returns the weights of all parameters from first_weight on.
Result<std::vector<std::size_t>> fold_weights(xla::HloModule& module, std::int64_t first_weight,
                                              WeightStore& store);

}  // namespace tfaot::toolkit::engine
