// SPDX-License-Identifier: Apache-2.0
// What the verbs share that change a release area once packages are in it: use, rollback, remove,
// gc and history.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tfaot/cli/run_program.h"
#include "tfaot/workflow/area_changes.h"

namespace tfaot::toolkit {

// --release-area, whose default is the current folder.
void add_area(CLI::App& app, Path& area);
// Makes it absolute once it was parsed.
void set_area(const Program& program, Path& area);
void add_dry_run(CLI::App& app, bool& dry_run);
void add_model(CLI::App& app, AreaRequest& request);

// Changes the version that users get, by one of the functions of area_changes.h, and reports it.
using Switch = Result<InstalledArchive> (*)(Context& context, const AreaRequest& request);
Status change_version(AreaRequest request, Program& program, Switch change);

nlohmann::ordered_json removal_json(const RemovalPlan& plan);
std::string removal_text(const RemovalPlan& plan, bool dry_run);

}  // namespace tfaot::toolkit
