// SPDX-License-Identifier: Apache-2.0
// Predictions of a package without a plugin: what `tfaot run` does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/arrays/match_inputs.h"
#include "tfaot/base/result.h"
#include "tfaot/load/predictor.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/load_package.h"

namespace tfaot::toolkit {

/// The outputs for these inputs, in the model's order. REQUIRES: they fit the model, as
/// model_inputs() returns them, and check_row_count() passed for the outputs. Error: rows are
/// coupled and their number is not compiled.
Result<std::vector<Array>> predict(Predictor& predictor, const ModelInputs& inputs);

struct RunRequest {
  LoadRequest package;
  PredictorOptions options;
  InputSource inputs;
  Path output;  ///< absolute; empty: no file
};

struct RunResult {
  std::string model;
  std::string version;
  std::string cpu_level;  ///< that ran
  std::int64_t rows = 0;
  std::vector<Array> outputs;
};
/// Loads, reads or makes the inputs, runs, writes the output file.
Result<RunResult> run_package(Context& context, const RunRequest& request);

}  // namespace tfaot::toolkit
