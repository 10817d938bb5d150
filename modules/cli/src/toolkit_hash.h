// SPDX-License-Identifier: Apache-2.0
// One hash of all of the toolkit that goes into a package: the tool, its engine, its runtime.
#pragma once

#include <string>

#include "context.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// `machine`: that packages are made for ("x86_64").
Result<std::string> toolkit_sha256(const Context& context, const std::string& machine);

}  // namespace tfaot::toolkit
