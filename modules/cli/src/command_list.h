// SPDX-License-Identifier: Apache-2.0
// `tfaot list`: what a release area holds.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_list(CLI::App& app);

}  // namespace tfaot::toolkit
