// SPDX-License-Identifier: Apache-2.0
// The conditions of scram: <ifarchitecture>, <iftool> and the like. Pure functions.
#pragma once

#include <map>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/buildfile/buildfile_types.h"

namespace tfaot::toolkit {

bool is_condition(const std::string& tag);

// One <if...> or <elif>; `tag` is that of the <if...>. `match`, or `name`, is a regular expression
// that is looked for, `value` a whole text; a leading '!' turns either around.
Result<bool> is_met(const std::string& tag, const std::map<std::string, std::string>& attributes,
                    const BuildConditions& conditions);

}  // namespace tfaot::toolkit
