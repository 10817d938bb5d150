// SPDX-License-Identifier: Apache-2.0
// What the options of a command say, in the form of a file's values, so that one set of rules
// checks both.
#pragma once

#include "tfaot/config/config.h"
#include "value_checker.h"

namespace tfaot::toolkit::config {

Values values_of(const ConfigOverrides& overrides);

}  // namespace tfaot::toolkit::config
