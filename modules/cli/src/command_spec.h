// SPDX-License-Identifier: Apache-2.0
// tfaot spec: what an RPM of a model is built from.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_spec(CLI::App& app);

}  // namespace tfaot::toolkit
