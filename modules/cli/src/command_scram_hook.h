// SPDX-License-Identifier: Apache-2.0
// `tfaot scram-hook`: the add-on of a scram area for <aot_compile>.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_scram_hook(CLI::App& app);

}  // namespace tfaot::toolkit
