// SPDX-License-Identifier: Apache-2.0
// `tfaot info`: what an archive, a package tree or a config file is.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_info(CLI::App& app);

}  // namespace tfaot::toolkit
