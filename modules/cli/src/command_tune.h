// SPDX-License-Identifier: Apache-2.0
// `tfaot tune`: what calls of a package cost on this machine, and which batch sizes would be best.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_tune(CLI::App& app);

}  // namespace tfaot::toolkit
