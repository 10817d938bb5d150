// SPDX-License-Identifier: Apache-2.0
// Manifest <-> JSON text, the format of manifest.json (docs/formats.md).
#pragma once

#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

// Two-space indent, keys in a fixed order, trailing newline. The last member is the hash of
// the text before it.
std::string manifest_to_json(const Manifest& manifest);
// `where` names the file in errors. Refuses another schema_version, missing keys, paths in `files`
// that are absolute or contain "..", and anything above the limits of base/limits.h.
Result<Manifest> manifest_from_json(const std::string& text, const std::string& where);
// Error if the text differs from the hash that manifest_to_json() put at its end: any byte changed.
Status check_own_hash(const std::string& text, const std::string& where);
Result<Manifest> read_manifest(const FileSystem& fs, const Path& file);

}  // namespace tfaot::toolkit
