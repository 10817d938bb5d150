// SPDX-License-Identifier: Apache-2.0
// What TensorFlow may compute on this machine while a model is compiled. A model may come from
// anywhere. TensorFlow folds constants by running its own kernels, and some of these read and write
// files, open connections or keep state. Only operations in these lists reach TensorFlow. Pure
// functions.
#pragma once

#include <string>

namespace tfaot::toolkit::engine {

// Computes its outputs from its inputs and attributes, and does nothing else.
bool is_pure(const std::string& operation);

// XLA compiles it, or it connects parts of a graph (functions, loops and branches of TensorFlow 1).
bool is_compiled(const std::string& operation);

}  // namespace tfaot::toolkit::engine
