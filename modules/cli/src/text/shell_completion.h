// SPDX-License-Identifier: Apache-2.0
// Completion scripts with the verbs, options, words and files of tfaot's command line. Pure
// functions.
#pragma once

#include <string>

#include "text/help_record.h"

namespace tfaot::toolkit {

std::string bash_completion(const CommandRecord& tool);
std::string zsh_completion(const CommandRecord& tool);
std::string fish_completion(const CommandRecord& tool);

}  // namespace tfaot::toolkit
