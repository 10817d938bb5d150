// SPDX-License-Identifier: Apache-2.0
// The record kept next to an RPM of a model, as TOOL.json: what the RPM was made from
// (docs/release.md).
#pragma once

#include <optional>
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

// Two-space indent, keys in a fixed order, trailing newline.
std::string rpm_record_to_json(const RpmRecord& record);
// Nothing if the text is not such a record: the RPM is then built as if there were none.
std::optional<RpmRecord> rpm_record_from_json(const std::string& text);

}  // namespace tfaot::toolkit
