// SPDX-License-Identifier: Apache-2.0
// The config's model.constants for runners of other engines, whose models have these as inputs.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

// Settings of a runner, with files of the values in the folder. Whole numbers and truth values are
// int64, others float64: the runner makes them what its model takes.
Result<std::vector<std::string>> constant_settings(Context& context,
                                                   const std::vector<ModelConstant>& constants,
                                                   const Path& folder);

}  // namespace tfaot::toolkit
