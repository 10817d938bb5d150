// SPDX-License-Identifier: Apache-2.0
// Profile <-> JSON. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

// Keys in the order of the members.
nlohmann::ordered_json profile_to_json(const Profile& profile);
// The same as text, see json_to_text().
std::string profile_to_text(const Profile& profile, int indent = -1);
// `where` names the file in errors.
Result<Profile> profile_from_json(const std::string& text, const std::string& where);

}  // namespace tfaot::toolkit
