// SPDX-License-Identifier: Apache-2.0
// What runners need of a model, as files in a folder: its linked code, its tables, rows of inputs,
// and the package's predictions for them, which all engines are compared with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/load/predictor.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

struct RunnerFiles {
  std::vector<std::string> package;    // settings of the package's own engine
  std::vector<std::string> tensors;    // settings of all engines: inputs, outputs and their files
  std::vector<std::string> predicted;  // the same for the predictions; empty: none to compare with
};

// A runner's setting: "float32 28,28,3 x".
std::string tensor_setting(const TensorSpec& tensor);

enum class Predictions {
  kCompared,
  kNone,  // the package's code cannot run in this process
};

// `most`: rows of the largest batch. REQUIRES: the folder exists.
Result<RunnerFiles> write_runner_files(Context& context,
                                       const std::shared_ptr<const LoadedModel>& model,
                                       const InputSource& inputs, std::int64_t most,
                                       const Path& folder,
                                       Predictions predictions = Predictions::kCompared);

}  // namespace tfaot::toolkit
