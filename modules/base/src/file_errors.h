// SPDX-License-Identifier: Apache-2.0
// The one text for each way in which a file operation fails, so that both file systems say the
// same. Pure functions.
#pragma once

#include <string>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

struct FileFailure {
  std::string action;    // "write": what could not be done
  int error_number = 0;  // errno's value: why
};

// "PATH: cannot ACTION: REASON", and advice if there is something to do.
Error file_error(const Path& path, const FileFailure& failure);

// Whether this errno of a look at a path means that nothing is there.
bool is_absence(int error_number);

}  // namespace tfaot::toolkit
