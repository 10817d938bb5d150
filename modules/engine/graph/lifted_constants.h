// SPDX-License-Identifier: Apache-2.0
// Large constants in functions (lowering/weight_rule.h) become calls (hlo/constant_calls.h), from
// which lowering makes weights. TensorFlow writes what a tf.function takes from outside that is no
// variable as such constants. Pure functions.
#pragma once

#include "graph/signature_function.h"

namespace tfaot::toolkit::engine {

// Of all functions that are called; the signature's own one is already in the library. Constants
// stay that must be known while compiling: for shapes, or for operations that XLA does not compile.
Status lift_function_constants(SignatureFunction& function);

// Whether the node is a call that took the place of a constant.
bool is_lifted_constant(const tensorflow::NodeDef& node);

}  // namespace tfaot::toolkit::engine
