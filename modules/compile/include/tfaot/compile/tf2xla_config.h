// SPDX-License-Identifier: Apache-2.0
// Reads tfcompile's --config, a tensorflow.tf2xla.Config as text. The engine does the work, because
// the parser is TensorFlow's.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/records/tf2xla_config.h"

namespace tfaot::toolkit {

Result<Tf2xlaConfig> read_tf2xla_config(const FileSystem& fs, const Path& file,
                                        const EngineProgram& engine);

}  // namespace tfaot::toolkit
