// SPDX-License-Identifier: Apache-2.0
// `tfaot update-weights`: a package and a retrained model -> the package with its weights.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_update_weights(CLI::App& app);

}  // namespace tfaot::toolkit
