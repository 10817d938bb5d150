// SPDX-License-Identifier: Apache-2.0
// `tfaot install`: archives -> release area.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_install(CLI::App& app);

}  // namespace tfaot::toolkit
