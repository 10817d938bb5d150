// SPDX-License-Identifier: Apache-2.0
// tfaot release: the RPMs of many models.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_release(CLI::App& app);

}  // namespace tfaot::toolkit
