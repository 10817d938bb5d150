// SPDX-License-Identifier: Apache-2.0
// FloatArrays and the like, under the name of CMSSW's header, for programs outside
// CMSSW. To use it, add this folder to the include path; do not do so inside CMSSW.
#pragma once

#ifdef PHYSICSTOOLS_TENSORFLOWAOT_UTIL_H
#error \
    "CMSSW's own PhysicsTools/TensorFlowAOT is in use: remove tfaot/cmssw/drop_in from the include path"
#endif

#include "tfaot/runtime/util.h"  // IWYU pragma: export
