// SPDX-License-Identifier: Apache-2.0
// Whether an install would replace something that tfaot did not make, or another tool's file. Only
// reads the disk.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/install/install_types.h"

namespace tfaot::toolkit {

Status check_nothing_in_the_way(const FileSystem& fs, const InstallPlan& plan);

}  // namespace tfaot::toolkit
