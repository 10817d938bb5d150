// SPDX-License-Identifier: Apache-2.0
// Where the tool finds its companions: relative to its own place, so that an installed tree can be
// moved. The build tree mirrors an installed one (CMakeLists.txt). Looks, changes nothing.
#pragma once

#include <string>
#include <vector>

#include "context.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/package/package_types.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// `wanted` (from --engine) or $TFAOT_ENGINE when not empty, else the engine that came with the
// tool; to be started with the user's TensorFlow.
Result<EngineProgram> find_engine(const Context& context, const std::string& wanted);

// The user's TensorFlow: $TFAOT_TENSORFLOW_ROOT, else where `tfaot setup` puts it; empty where no
// folder for caches is known.
Path tensorflow_folder(const Environment& environment);

// The script that puts the pinned TensorFlow into the user's cache.
Result<Path> find_fetch_script(const Context& context);

// The runtime that a package for `machine` ("x86_64") carries, below runtime/:
// lib/libtfaot_runtime.a, include/tfaot/runtime/... and, of include/tfaot/cmssw, what fits its
// headers.
Result<std::vector<StagedFile>> runtime_files(const Context& context, const std::string& machine,
                                              HeadersMode headers = HeadersMode::kSelfContained);

}  // namespace tfaot::toolkit
