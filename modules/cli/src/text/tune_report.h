// SPDX-License-Identifier: Apache-2.0
// What `tfaot tune` prints. Pure functions.
#pragma once

#include <string>

#include "tfaot/records/manifest.h"
#include "tfaot/tune/suggest.h"

namespace tfaot::toolkit {

// The costs, and what the plan makes of some numbers of rows. REQUIRES: manifest.tuning.
std::string tuning_text(const Manifest& manifest);

std::string suggestion_text(const Suggestion& suggestion);

}  // namespace tfaot::toolkit
