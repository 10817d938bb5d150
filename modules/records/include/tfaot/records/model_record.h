// SPDX-License-Identifier: Apache-2.0
// What CMS's conditions database keeps of a model: MLMetadata{model_name, version, hash}
// (cmssw#50275). In the manifest, in the generated header and from the runtime. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfaot::toolkit {

struct ManifestFile;
struct ModelSection;

// The database has an int.
inline constexpr std::int64_t kLargestRecordVersion = 2'147'483'647;

struct ModelRecord {
  std::string model_name;
  std::int64_t version = 0;  // 0: the model's version is no number, and none was given
  std::string hash;          // code_sha256()
};

// major * 1000000 + minor * 1000 + patch of "1", "1.2" or "1.2.3"; 0 for any other text, and for
// parts of four digits, so that a later version never gets a smaller number.
std::int64_t version_number(const std::string& version);
// The config's number, else that of the version.
std::int64_t record_version(const ModelSection& model);

// Of all code and weights: SHA-256 over the lines "SHA256  lib/NAME.o\n" of the objects by their
// paths, as `sha256sum lib/*.o | sha256sum` prints it in a package tree.
std::string code_sha256(std::vector<ManifestFile> files);

}  // namespace tfaot::toolkit
