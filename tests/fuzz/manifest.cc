// SPDX-License-Identifier: Apache-2.0
// manifest.json and the rest of a package's record.
#include "tests/fuzz/fuzz.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit {

void fuzz(const std::string& bytes) {
  const auto manifest = manifest_from_json(bytes, "manifest.json");
  if (!manifest) return;
  const std::string written = manifest_to_json(*manifest);
  const auto again = manifest_from_json(written, "manifest.json");
  require(again.has_value(), "a manifest that was written can be read");
  require(manifest_to_json(*again) == written, "a manifest stays the same");
}

}  // namespace tfaot::toolkit
