// SPDX-License-Identifier: Apache-2.0
// Predictions of the original model, for a job with EngineJob::predictions. Used by one thread.
#pragma once

#include <functional>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

// Refuses what compiling refuses. Calls `on_step` after each prediction. That the program
// refuses inputs is not an error, but one of the result's refusals.
Result<EngineResult> predict_as_original(FileSystem& fs, const EngineJob& job,
                                         const std::function<void(const std::string&)>& on_step);

}  // namespace tfaot::toolkit::engine
