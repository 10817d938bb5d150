// SPDX-License-Identifier: Apache-2.0
// tfaot::Model, and tfaot::Error, which it throws, under the name of CMSSW's header, for programs
// outside CMSSW. To use it, add this folder to the include path; do not do so inside CMSSW.
#pragma once

#ifdef PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H
#error \
    "CMSSW's own PhysicsTools/TensorFlowAOT is in use: remove tfaot/cmssw/drop_in from the include path"
#endif

#include "PhysicsTools/TensorFlowAOT/interface/Batching.h"  // IWYU pragma: export
#include "PhysicsTools/TensorFlowAOT/interface/Util.h"      // IWYU pragma: export
#include "tfaot/runtime/compat_model.h"                     // IWYU pragma: export
#include "tfaot/runtime/error.h"                            // IWYU pragma: export
