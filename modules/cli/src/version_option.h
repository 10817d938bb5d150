// SPDX-License-Identifier: Apache-2.0
// The rule of model.version for a --version on the command line. Pure function.
#pragma once

#include <string>

namespace tfaot::toolkit {

// What is allowed; empty when the version is. For CLI11's check().
std::string check_version(const std::string& version);

}  // namespace tfaot::toolkit
