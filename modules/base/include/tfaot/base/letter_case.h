// SPDX-License-Identifier: Apache-2.0
// Upper and lower case of names. ASCII letters only, whatever the locale. Pure functions.
#pragma once

#include <string>

namespace tfaot::toolkit {

std::string lower_case(std::string text);
std::string upper_case(std::string text);

}  // namespace tfaot::toolkit
