// SPDX-License-Identifier: Apache-2.0
// Man pages made from the help texts, in roff's language. Pure functions.
#pragma once

#include <string>

#include "text/help_record.h"

namespace tfaot::toolkit {

// tfaot.1
std::string manual_page(const CommandRecord& tool);

// tfaot-VERB.1
std::string manual_page(const CommandRecord& tool, const CommandRecord& verb);

}  // namespace tfaot::toolkit
