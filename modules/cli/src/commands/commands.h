// SPDX-License-Identifier: Apache-2.0
// add_<verb>() declares the options of a verb of verbs.def, but for --json, -q, -v and --timeout,
// which all have, and the examples in its footer. It returns the function that runs the verb with
// the parsed options; <verb>.cc contains it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "tfaot/base/result.h"
#include "tfaot/cli/run_program.h"

namespace tfaot::toolkit {

using Action = std::function<Status(Program&)>;

#define TFAOT_VERB(group, need, name, summary) Action add_##name(CLI::App& app);
#include "commands/verbs.def"
#undef TFAOT_VERB

}  // namespace tfaot::toolkit
