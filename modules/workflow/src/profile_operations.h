// SPDX-License-Identifier: Apache-2.0
// Which share of a call each operation takes: compiles the model once more, with code that counts
// the clock ticks of its operations, and runs that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/config/config.h"
#include "tfaot/profile/measure.h"
#include "tfaot/records/profile.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

struct OperationsRequest {
  Path config;  // of the model, or the model; absolute
  ConfigOverrides overrides;
  std::string cpu_level;  // of the package, which this CPU can run
  InputSource inputs;
  MeasureOptions measure;
  EngineRun engine;
  Path runner;
  std::string core;  // the runner's setting
  Path folder;       // empty, for scratch files
};

// One for each compiled batch size, without the time of a call of the package as it is.
Result<std::vector<ProfiledOperations>> profile_operations(Context& context,
                                                           const OperationsRequest& request);

}  // namespace tfaot::toolkit
