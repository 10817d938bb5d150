// SPDX-License-Identifier: Apache-2.0
// Reads a model with the reader of its format.
//
// Predictions of the original model. Used by one thread.
#pragma once

#include "front/lowering/signature.h"
#include "tfaot/base/file_system.h"

namespace tfaot::toolkit::engine {

// Finds the functions in a folder or file of any format.
Result<ModelFunctions> find_functions(const std::string& source);

// Loads the model of the job. Errors name the folder or file and say what it contains.
Result<std::unique_ptr<SourceModel>> load_model(const JobModel& job);

// Refuses the models that compiling refuses. Calls `on_step` after each prediction. Inputs that the
// program rejects are listed in the result's refusals; they are not an error.
Result<EngineResult> predict_as_original(FileSystem& fs, const PredictJob& job,
                                         const std::function<void(const std::string&)>& on_step);

}  // namespace tfaot::toolkit::engine
