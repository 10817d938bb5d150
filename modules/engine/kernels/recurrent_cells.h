// SPDX-License-Identifier: Apache-2.0
// One step of a recurrent layer with the usual gates (LSTM, GRU with the reset after the product,
// simple RNN) as one kernel call. The pattern is that of the operations alone, whatever made them:
// a loop of TensorFlow, Keras, ONNX or JAX, or steps in line. Used by one thread.
#pragma once

#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

Status replace_recurrent_cells(xla::HloModule& module, std::int64_t first_weight);

}  // namespace tfaot::toolkit::engine
