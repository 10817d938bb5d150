// SPDX-License-Identifier: Apache-2.0
// The toolbox of a scram area. scram takes every folder of config/toolbox for an architecture and
// may use the last one that it lists (ConfigArea.py, _setAreaArch), so a new folder there, or one
// without tools/, makes every command of scram fail. Nothing here writes.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/install/install_types.h"

namespace tfaot::toolkit {

// The SCRAM_ARCH below which an install puts its tool files; empty: config/toolbox/tools. In a
// scram area it is an existing one. Error: the area leaves a choice, or has no such architecture.
Result<std::string> find_scram_arch(const FileSystem& fs, const InstallOptions& options);

}  // namespace tfaot::toolkit
