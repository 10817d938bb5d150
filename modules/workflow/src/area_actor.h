// SPDX-License-Identifier: Apache-2.0
// What install_archives() and area_changes share.
#pragma once

#include <chrono>
#include <string>

#include "tfaot/install/install_types.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/install_archives.h"

namespace tfaot::toolkit {

// UTC, as in the history of an area: texts sort as times do.
std::string time_before(std::chrono::seconds ago);
inline std::string time_now() { return time_before(std::chrono::seconds(0)); }

AreaActor actor_of(const Environment& environment, AreaAction action);

// The tool files of the package tree at `tree`, with the base that the plan gives them. `archive`
// names the package in errors.
Result<ToolFileTexts> tool_files_for(const FileSystem& files, const InstallPlan& plan,
                                     const Path& archive);

ScramStep scram_step(const FileSystem& files, const Path& area, const InstallReceipt& receipt);

}  // namespace tfaot::toolkit
