// SPDX-License-Identifier: Apache-2.0
// Makes the measuring program of a package.
#pragma once

#include "tfaot/tune/tune.h"

namespace tfaot::toolkit {

// The executable, in options.work_directory.
Result<Path> build_program(FileSystem& fs, const Manifest& manifest, const TuneOptions& options);

}  // namespace tfaot::toolkit
