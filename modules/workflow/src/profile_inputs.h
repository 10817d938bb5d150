// SPDX-License-Identifier: Apache-2.0
// What runners need of a model, as files in a folder: its linked code, its tables, rows of inputs,
// and the package's predictions for them, which all engines are compared with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

struct RunnerFiles {
  std::vector<std::string> package;    // settings of the package's own engine
  std::vector<std::string> tensors;    // settings of all engines: inputs, outputs and their files
  std::vector<std::string> predicted;  // the same for the predictions; empty: none to compare with
  std::vector<DimensionSize> sizes;    // of the free dimensions
};

// A runner's setting: "float32 28,28,3 x".
std::string tensor_setting(const TensorSpec& tensor);

enum class Predictions {
  kCompared,
  kNone,  // the package's code cannot run in this process
};

struct RunnerRows {
  InputSource inputs;
  std::int64_t most = 1;  // of the largest batch
  std::vector<FreeDimension> dimensions =
      {};  // with sizes of their own: inputs made have the largest
};

// REQUIRES: the folder exists.
Result<RunnerFiles> write_runner_files(Context& context,
                                       const std::shared_ptr<const LoadedModel>& model,
                                       const RunnerRows& wanted, const Path& folder,
                                       Predictions predictions = Predictions::kCompared);

// The config's model.constants for runners of other engines, whose models have these as inputs.

// Settings of a runner, with files of the values in the folder. Whole numbers and truth values are
// int64, others float64: the runner makes them what its model takes.
Result<std::vector<std::string>> constant_settings(Context& context,
                                                   const std::vector<ModelConstant>& constants,
                                                   const Path& folder);

}  // namespace tfaot::toolkit
