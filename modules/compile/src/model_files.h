// SPDX-License-Identifier: Apache-2.0
// Checks a model's files before anything reads them. Pure, except that it looks at the disk.
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

// Errors: pipes and devices, endless folders, more bytes than a model may have.
Status check_model_files(const FileSystem& fs, const Path& source);

}  // namespace tfaot::toolkit
