// SPDX-License-Identifier: Apache-2.0
// Where the model is according to the config, and whether it is there.
#pragma once

#include "problems.h"
#include "tfaot/base/file_system.h"
#include "value_checker.h"

namespace tfaot::toolkit::config {

// The model's folder or file as written in the config.
Path written_source_of(const Values& values);
// The model's folder or file: absolute, normalised, without a trailing slash.
Path source_of(const Values& values, const Path& config_file);
void check_source(const FileSystem& fs, const Path& config_file, const Values& values,
                  Problems& problems);

}  // namespace tfaot::toolkit::config
