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
/// coupled and their number is not compiled. Of ragged rows (ModelInputs::offsets) each output
/// holds all rows, as make_ragged_array() says.
Result<std::vector<Array>> predict(Predictor& predictor, const ModelInputs& inputs);

struct RunRequest {
  LoadRequest package;
  PredictorOptions options;
  InputSource inputs;
  /// "n=37": of free dimensions. Others have the sizes of the file's arrays, or the largest.
  std::vector<std::string> dimensions;
  Path output;  ///< absolute; empty: no file
};

struct RunResult {
  std::string model;
  std::string version;
  std::string cpu_level;  ///< that ran
  std::int64_t rows = 0;
  std::vector<DimensionSize> sizes;  ///< of the free dimensions in this run
  std::vector<Array> outputs;        ///< `rows` rows of each
  bool is_ragged = false;            ///< rows had different sizes
  std::vector<Array> ragged;         ///< outputs whose rows have different sizes
};

/// The outputs, those whose rows have different sizes last.
std::vector<Array> all_outputs(const RunResult& result);

/// The free dimensions that have sizes of their own, those in `texts` with this size alone. Error:
/// there is no such dimension, or its size is out of the range.
Result<std::vector<FreeDimension>> chosen_dimensions(const Manifest& manifest,
                                                     const std::vector<std::string>& texts);

/// Loads, reads or makes the inputs, runs, writes the output file.
Result<RunResult> run_package(Context& context, const RunRequest& request);

}  // namespace tfaot::toolkit
