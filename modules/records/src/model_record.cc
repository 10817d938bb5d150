// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_record.h"

#include <algorithm>

#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

std::int64_t version_number(const std::string& version) {
  const std::vector<std::string> parts = split_words(version, ".");
  if (parts.empty() || parts.size() > 3 || join(parts, ".") != version) return 0;
  std::int64_t number = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = parse_number<std::int64_t>(i < parts.size() ? parts[i] : "0");
    if (!part || *part < 0 || (i > 0 && *part > 999) || *part > 2147) return 0;
    number = 1000 * number + *part;
  }
  return number <= kLargestRecordVersion ? number : 0;
}

std::int64_t record_version(const ModelSection& model) {
  return model.record_version > 0 ? model.record_version : version_number(model.version);
}

std::string code_sha256(std::vector<ManifestFile> files) {
  std::ranges::sort(files, {}, &ManifestFile::path);
  std::string lines;
  for (const ManifestFile& file : files) {
    if (is_object_file(file.path)) lines += file.sha256 + "  " + file.path + "\n";
  }
  return sha256_of(lines);
}

}  // namespace tfaot::toolkit
