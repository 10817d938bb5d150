// SPDX-License-Identifier: Apache-2.0
// The frameworks that run a model without tfaot, and where their libraries are on this machine.
#pragma once

#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/profile.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// True if the framework takes models of this format. False for tfaot itself.
bool runs_format(ProfiledEngine engine, ModelFormat format);

/// The framework's shared library, as python3 in PATH has it installed; empty for TensorFlow, which
/// a runner of tfaot links. Error: the framework is not installed, and what to do. `option`: what
/// names the library otherwise, "--library onnxruntime=FILE.so".
Result<Path> find_framework(const Context& context, ProfiledEngine engine,
                            const std::string& option);

}  // namespace tfaot::toolkit
