// SPDX-License-Identifier: Apache-2.0
// What tfaot-tfcompile does: graph and config -> one header and two objects.
#pragma once

#include <string>
#include <vector>

#include "context.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

Status run_tfcompile(const std::vector<std::string>& arguments, Context& context);

}  // namespace tfaot::toolkit
