// SPDX-License-Identifier: Apache-2.0
// Values of variables straight from a SavedModel's checkpoint, by the variable's name. For models
// whose own restore does not reach them: Keras 3 saved by tf.saved_model.save() reads variables
// that only Python's loader fills.
#pragma once

#include <string>

#include "tensorflow/core/framework/tensor.h"
#include "tfaot/base/result.h"

namespace tfaot::engine {

// `saved_model` is the folder, `name` the variable's full name ("dense/kernel").
Result<tensorflow::Tensor> checkpoint_value(const std::string& saved_model,
                                            const std::string& name);

}  // namespace tfaot::engine
