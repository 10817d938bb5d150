// SPDX-License-Identifier: Apache-2.0
// Everything a user of a generated model needs: the native API (native_model.h), the compatibility
// API (compat_model.h), batch rules and the error class.
#pragma once

#include "tfaot/runtime/batching.h"            // IWYU pragma: export
#include "tfaot/runtime/compat_model.h"        // IWYU pragma: export
#include "tfaot/runtime/detail/description.h"  // IWYU pragma: export
#include "tfaot/runtime/error.h"               // IWYU pragma: export
#include "tfaot/runtime/native_model.h"        // IWYU pragma: export
#include "tfaot/runtime/util.h"                // IWYU pragma: export
#include "tfaot/runtime/wrapper.h"             // IWYU pragma: export

/// The runtime, for programs that run compiled models. native::Model is for new code; Model,
/// Wrapper, BatchRule and BatchStrategy have the calls of CMSSW's PhysicsTools/TensorFlowAOT.
namespace tfaot {}
