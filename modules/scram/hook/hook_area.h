// SPDX-License-Identifier: Apache-2.0
// What the hook needs to know of a scram area. Looks at the disk, changes nothing.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct HookArea {
  Path build_rules;  // config/SCRAM/Plugins/BuildRules.py, which scram reads instead of its own
  Path plugin;       // ours, beside it
  Path makefile;     // ours, config/SCRAM/GMake/Makefile.aot
};

HookArea hook_area(const Path& area);
// Error if this is not a scram area, or if the hook does not fit its scram and cmssw-config.
Status check_area(const FileSystem& fs, const Path& area);

}  // namespace tfaot::toolkit
