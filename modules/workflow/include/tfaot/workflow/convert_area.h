// SPDX-License-Identifier: Apache-2.0
// An area that upstream's generator wrote -> package tree: what `tfaot convert-area` does. Nothing
// is compiled, and the area stays unchanged.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/convert/convert.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What to convert. Paths are absolute.
struct ConvertRequest {
  Path area;  ///< with NAME_bsN.h, NAME_bsN.o and possibly a tool file
  Path output_directory;
  std::string model;      ///< NAME; empty: the area's only one
  std::string version;    ///< of the package; empty: the tool file's
  std::string tool_name;  ///< empty: the tool file's, else default_tool_name()
  std::string tool_base;  ///< empty: @TOOL_BASE@
  std::string cpu_level;  ///< what the objects were compiled for; empty: any CPU of their machine
  HeadersMode headers = HeadersMode::kSelfContained;
  bool share_weights = true;  ///< false: the weights stay in every object
};

/// A package tree that was written.
struct ConvertedPackage {
  Manifest manifest;
  ConvertedModel model;  ///< what was done with the objects
};

/// Error: the area does not contain the model, its version is not known, or the folder contains
/// something else. Objects that keep their weights are warnings.
Result<ConvertedPackage> convert_area(Context& context, const ConvertRequest& request);

}  // namespace tfaot::toolkit
