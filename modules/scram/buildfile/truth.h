// SPDX-License-Identifier: Apache-2.0
// Whether a condition of a BuildFile is true: <ifarchitecture>, <iftool> and the like. Pure
// function.
#pragma once

#include <pugixml.hpp>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/scram/buildfile_types.h"

namespace tfaot::toolkit {

// For one <if...> or <elif>; `tag` is that of the <if...>.
Result<bool> is_met(const std::string& tag, const pugi::xml_node& node,
                    const BuildConditions& conditions);

}  // namespace tfaot::toolkit
