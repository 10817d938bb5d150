// SPDX-License-Identifier: Apache-2.0
// Reads the text proto that tfcompile takes as --config.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

Result<Tf2xlaConfig> read_tf2xla_config(const std::string& file);

}  // namespace tfaot::toolkit::engine
