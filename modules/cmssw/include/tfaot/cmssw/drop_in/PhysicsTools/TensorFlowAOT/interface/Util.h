// SPDX-License-Identifier: Apache-2.0
// FloatArrays and the like, under the name of CMSSW's header, for programs outside
// CMSSW. Opt in by this folder in the include path; inside CMSSW leave it out.
#pragma once

#ifdef PHYSICSTOOLS_TENSORFLOWAOT_UTIL_H
#error \
    "CMSSW's own PhysicsTools/TensorFlowAOT is in use: take tfaot/cmssw/drop_in out of the include path"
#endif

#include "tfaot/runtime/util.h"  // IWYU pragma: export
