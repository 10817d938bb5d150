// SPDX-License-Identifier: Apache-2.0
// The verbs of the tool, one line each, and the way from a command line to one of them. To add a
// verb: write <verb>.cc, declare its function in commands.h, add its line to command_table.cc, and
// add its section to docs/cli.md (a test compares).
#pragma once

#include <string>
#include <vector>

#include "text/help_record.h"
#include "tfaot/base/result.h"
#include "tfaot/cli/run_program.h"

namespace tfaot::toolkit {

// `words`: without the program's own name. A wrong command line is an Error of kind kUsage.
Status run_command_line(const std::vector<std::string>& words, Program& program);

// The whole command line as data.
CommandRecord describe_tool();

}  // namespace tfaot::toolkit
