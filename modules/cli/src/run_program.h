// SPDX-License-Identifier: Apache-2.0
// What the main() of our programs is made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "context.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Runs `work` on the arguments with the real files, console and environment, and returns the exit
// code. Errors, and exceptions as our own defects, go to the standard error. An
// interrupt ends the process here, by its signal, when all is cleaned up.
int run_program(int argc, char** argv,
                const std::function<Status(const std::vector<std::string>&, Context&)>& work);

}  // namespace tfaot::toolkit
