// SPDX-License-Identifier: Apache-2.0
// The verbs of the tool, one line each, and the way from a command line to one of them. To add a
// verb: write command_<verb>.{h,cc}, add its line to command_table.cc and its section to
// docs/cli.md (a test compares).
#pragma once

#include <string>
#include <vector>

#include "context.h"
#include "help_record.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// `words`: without the program's own name. A wrong command line is an Error of kind kUsage.
Status run_command_line(const std::vector<std::string>& words, Context& context);

// The whole command line as data.
CommandRecord describe_tool();

// 0 ok, 1 input, 2 usage, 3 a defect of tfaot.
int exit_code(const Status& status);

}  // namespace tfaot::toolkit
