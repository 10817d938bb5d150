// SPDX-License-Identifier: Apache-2.0
// All of the interface, under the name of CMSSW's header, for programs outside
// CMSSW. To use it, add this folder to the include path; do not do so inside CMSSW.
#pragma once

#ifdef PHYSICSTOOLS_TENSORFLOWAOT_AOT_H
#error \
    "CMSSW's own PhysicsTools/TensorFlowAOT is in use: remove tfaot/cmssw/drop_in from the include path"
#endif

#include "PhysicsTools/TensorFlowAOT/interface/Batching.h"  // IWYU pragma: export
#include "PhysicsTools/TensorFlowAOT/interface/Model.h"     // IWYU pragma: export
