// SPDX-License-Identifier: Apache-2.0
// The options of a command in the form of a file's values, so that the same rules check both.
#pragma once

#include "tfaot/config/config.h"
#include "value_checker.h"

namespace tfaot::toolkit::config {

Values values_of(const ConfigOverrides& overrides);

}  // namespace tfaot::toolkit::config
