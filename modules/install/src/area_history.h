// SPDX-License-Identifier: Apache-2.0
// How changes of an area get their lines in its history.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/staged_update.h"
#include "tfaot/install/install.h"

namespace tfaot::toolkit {

// The line of a change, without what it changed.
AreaEvent event_by(const AreaActor& actor, const std::string& tool_name,
                   const std::string& version);

// Adds the lines of earlier changes that have none, then `events`. Error: the history cannot be
// read.
Status put_history(const FileSystem& fs, const Path& area, const std::vector<AreaEvent>& events,
                   const AreaActor& actor, StagedUpdate& update);

}  // namespace tfaot::toolkit
