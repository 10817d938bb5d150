// SPDX-License-Identifier: Apache-2.0
// Looks up what workflows may know about the process: its environment variables, place and machine.
// Called once, in main(), before there are threads.
#pragma once

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

Result<Environment> look_up_environment(const FileSystem& files);

}  // namespace tfaot::toolkit
