// SPDX-License-Identifier: Apache-2.0
// Are the predictions of a package those of its model? What `tfaot validate` does: it runs both,
// the model by the program that its format belongs to, and compares every number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/free_sizes.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/validation.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

struct ValidateRequest {
  LoadRequest package;
  Path model;     ///< a model of any format, or a config that names one; absolute
  Path expected;  ///< instead of a model: a file with its outputs for `inputs`; absolute
  /// Of a SavedModel; empty: the one that the package was compiled from.
  std::string signature;
  Path library;            ///< of ONNX Runtime, for ONNX models; absolute; empty: that of python3
  Path inputs;             ///< absolute; empty: random ones
  std::uint64_t seed = 1;  ///< of random inputs
  bool edges = true;       ///< also inputs at which compilers differ; see docs/validate.md
  bool strict = false;     ///< edge inputs count for the verdict
  std::optional<double> tolerance;  ///< relative; empty: usual_tolerance()
  double absolute_tolerance = Tolerance().absolute;
  bool record = false;  ///< record_validation() follows
  EngineRun engine;
};

/// Inputs that the model itself does not take.
struct RefusedInputs {
  InputKind inputs = InputKind::kZeros;
  std::int64_t rows = 0;
  std::vector<DimensionSize> sizes;  ///< of the free dimensions
  std::string why;
};

struct ValidationResult {
  Manifest manifest;
  Path path;  ///< of the package's tree or archive
  ModelFormat format = ModelFormat::kSavedModel;
  bool is_its_source = false;               ///< the package was made from this very model
  bool is_saved = false;                    ///< compared with a file, not with a model
  std::vector<std::string> skipped_levels;  ///< that this CPU cannot run
  std::vector<ValidatedOutput> outputs;     ///< of every batch
  std::vector<RefusedInputs> refused;
  Validation summary;

  bool passed() const;
};

/// Error: one of the two cannot be loaded or run, or their signatures differ. That the predictions
/// differ is no error.
Result<ValidationResult> validate_package(Context& context, const ValidateRequest& request);

/// Puts the summary into the manifest of the package, a tree or an archive. Error: the package is
/// installed, or is no longer the one that was validated. REQUIRES: result.passed().
Status record_validation(Context& context, const ValidateRequest& request,
                         const ValidationResult& result);

}  // namespace tfaot::toolkit
