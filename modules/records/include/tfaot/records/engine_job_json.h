// SPDX-License-Identifier: Apache-2.0
// EngineJob and EngineResult <-> JSON. Both ends come from one build, so a text that does not fit
// is a defect of tfaot. Pure functions.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

std::string engine_job_to_json(const EngineJob& job);
Result<EngineJob> engine_job_from_json(const std::string& text);

std::string engine_result_to_json(const EngineResult& result);
// `where` names the file in errors.
Result<EngineResult> engine_result_from_json(const std::string& text, const std::string& where);

}  // namespace tfaot::toolkit
