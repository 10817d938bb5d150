// SPDX-License-Identifier: Apache-2.0
// What a model contains, in any format. The engine reads it, because the parsers are TensorFlow's.
// Safe from many threads.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/records/model_description.h"

namespace tfaot::toolkit {

// `model`: a SavedModel's folder, or the file of a frozen graph. Errors: it is no model, or has no
// signature.
Result<ModelDescription> describe_model(const FileSystem& fs, const Path& model,
                                        const EngineProgram& engine);

}  // namespace tfaot::toolkit
