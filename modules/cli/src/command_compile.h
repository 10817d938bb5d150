// SPDX-License-Identifier: Apache-2.0
// `tfaot compile`: config and model -> package tree.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_compile(CLI::App& app);

}  // namespace tfaot::toolkit
