// SPDX-License-Identifier: Apache-2.0
// `tfaot completion`: what teaches a shell tfaot's command line. The build of the toolkit has it
// write that, and the man pages, for all shells.
#pragma once

#include "command.h"

namespace tfaot::toolkit {

Action add_completion(CLI::App& app);

}  // namespace tfaot::toolkit
