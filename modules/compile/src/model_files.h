// SPDX-License-Identifier: Apache-2.0
// What a model's files must be before anyone reads them. Pure but for the look at the disk.
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

// Errors: pipes and devices, folders without end, more bytes than a model has.
Status check_model_files(const FileSystem& fs, const Path& source);

}  // namespace tfaot::toolkit
