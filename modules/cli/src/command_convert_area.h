// SPDX-License-Identifier: Apache-2.0
// `tfaot convert-area`.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_convert_area(CLI::App& app);

}  // namespace tfaot::toolkit
