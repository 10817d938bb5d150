// SPDX-License-Identifier: Apache-2.0
// The record kept beside an RPM of a model: what the RPM was made from (rpm_record_json.h).
#pragma once

#include <string>

namespace tfaot::toolkit {

// What an RPM was made from, as hashes.
struct ReleaseInputs {
  std::string source_sha256;   // config and model
  std::string spec_sha256;     // spec file and what it includes
  std::string toolkit_sha256;  // tfaot, its engine and its runtime
  std::string toolkit_version;
};

// Kept beside an RPM, as TOOL.json.
struct RpmRecord {
  std::string tool_name;
  std::string version;  // of the model
  unsigned release = 1;
  std::string rpm;  // file name
  std::string rpm_sha256;
  ReleaseInputs inputs;
};

}  // namespace tfaot::toolkit
