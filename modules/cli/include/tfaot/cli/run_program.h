// SPDX-License-Identifier: Apache-2.0
// The common part of our programs' main().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/cli/console.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What a program works with: a workflow's context whose diagnostics are the console, and the
/// command line.
struct Program : Context {
  Console& console;
  std::vector<std::string> arguments;  ///< of the command line, as the user typed them
  bool json = false;                   ///< --json: print JSON instead of text
};

/// Runs `work` on the arguments with the real files, console and environment, and returns the exit
/// code. Errors go to standard error; so do exceptions, as defects of tfaot. An interrupt ends the
/// process here, by its signal, once everything is cleaned up.
int run_program(int argc, char** argv,
                const std::function<Status(const std::vector<std::string>&, Program&)>& work);

/// 0 ok, 1 input, 2 usage, 3 a defect of tfaot.
int exit_code(const Status& status);

}  // namespace tfaot::toolkit
