// SPDX-License-Identifier: Apache-2.0
// `tfaot package`: package tree -> archive.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_package(CLI::App& app);

}  // namespace tfaot::toolkit
