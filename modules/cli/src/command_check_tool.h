// SPDX-License-Identifier: Apache-2.0
// `tfaot check-tool`: what scram will make of a tool file.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_check_tool(CLI::App& app);

}  // namespace tfaot::toolkit
