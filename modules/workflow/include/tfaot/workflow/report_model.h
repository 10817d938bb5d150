// SPDX-License-Identifier: Apache-2.0
// All that a newcomer asks of a model, in one answer: what `tfaot report` does. Asks the workflows
// of `tfaot check`, tune, validate and profile one after the other. Keeps nothing but cached code.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/profile/measure.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/profile.h"
#include "tfaot/tune/suggest.h"
#include "tfaot/workflow/check_model.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tuned_package.h"
#include "tfaot/workflow/validate_package.h"

namespace tfaot::toolkit {

/// A framework that the package is compared with.
struct BesideFramework {
  ProfiledEngine engine = ProfiledEngine::kOnnxRuntime;
  Path model;        ///< in a form that it takes, absolute; empty: the model of the report
  std::string name;  ///< of the model, as the user wrote it
};

struct ReportRequest {
  CheckRequest check;  ///< the model. Without a signature: the one of a new config
  std::string name;    ///< of the model, as the user wrote it
  std::vector<BesideFramework> beside;
  /// The frameworks' shared libraries, absolute; python3 is asked for the others.
  std::map<ProfiledEngine, Path> libraries;
  Path inputs;                         ///< absolute; empty: random ones
  std::string inputs_name;             ///< as the user wrote it
  std::map<std::size_t, double> rows;  ///< what batch sizes are suggested for, and how often each
  TuneRequest tune;                    ///< how; no paths
  MeasureOptions measure;
  std::string toolkit_version;
};

/// If the model does not compile, only `check` is set.
struct ModelReport {
  ModelCheck check;
  Manifest manifest;                         ///< of the package; with the costs that were measured
  Result<ValidationResult> validation;       ///< error: why no predictions were compared
  Result<Suggestion> suggestion;             ///< of the compiled sizes; error: why there is none
  Result<Profile> profile;                   ///< error: why nothing was measured
  std::map<ProfiledEngine, Error> left_out;  ///< of `beside`, and why
};

/// Error: check_model()'s, inputs that do not fit, or a model for a framework that is wrong. That a
/// question stays open is no error: a framework is not installed, there is no C++ compiler.
Result<ModelReport> report_model(Context& context, const ReportRequest& request);

}  // namespace tfaot::toolkit
