// SPDX-License-Identifier: Apache-2.0
// The verbs of the tool. add_<verb>() declares the options of a verb and the examples in its
// footer. It returns the function that runs the verb with the parsed options; <verb>.cc contains
// it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "tfaot/base/result.h"
#include "tfaot/cli/run_program.h"

namespace tfaot::toolkit {

using Action = std::function<Status(Program&)>;

Action add_check(CLI::App& app);
Action add_check_tool(CLI::App& app);
Action add_compile(CLI::App& app);
Action add_completion(CLI::App& app);
Action add_condor(CLI::App& app);
Action add_convert_area(CLI::App& app);
Action add_diff(CLI::App& app);
Action add_info(CLI::App& app);
Action add_init(CLI::App& app);
Action add_inspect(CLI::App& app);
Action add_install(CLI::App& app);
Action add_list(CLI::App& app);
Action add_package(CLI::App& app);
Action add_profile(CLI::App& app);
Action add_release(CLI::App& app);
Action add_run(CLI::App& app);
Action add_scram_hook(CLI::App& app);
Action add_setup(CLI::App& app);
Action add_spec(CLI::App& app);
Action add_tune(CLI::App& app);
Action add_update_weights(CLI::App& app);
Action add_validate(CLI::App& app);

}  // namespace tfaot::toolkit
