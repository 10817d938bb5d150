// SPDX-License-Identifier: Apache-2.0
// A second source file that includes a model's header.
#pragma once

#include "PhysicsTools/TensorFlowAOT/interface/Util.h"

tfaot::FloatArrays predict_in_another_file(const tfaot::FloatArrays& x);
