// SPDX-License-Identifier: Apache-2.0
// TensorFlow makes a convolution with a dilated window of three operations: SpaceToBatch moves the
// elements that a window meets beside each other, BatchToSpace moves the results back. Here they
// become one convolution again. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

Status restore_dilated_windows(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
