// SPDX-License-Identifier: Apache-2.0
// tfaot::Model, and tfaot::Error, which it throws, under the name of CMSSW's header, for programs
// outside CMSSW. Opt in by this folder in the include path; inside CMSSW leave it out.
#pragma once

#ifdef PHYSICSTOOLS_TENSORFLOWAOT_MODEL_H
#error \
    "CMSSW's own PhysicsTools/TensorFlowAOT is in use: take tfaot/cmssw/drop_in out of the include path"
#endif

#include "PhysicsTools/TensorFlowAOT/interface/Batching.h"  // IWYU pragma: export
#include "PhysicsTools/TensorFlowAOT/interface/Util.h"      // IWYU pragma: export
#include "tfaot/runtime/compat_model.h"                     // IWYU pragma: export
#include "tfaot/runtime/error.h"                            // IWYU pragma: export
