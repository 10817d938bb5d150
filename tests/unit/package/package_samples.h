// SPDX-License-Identifier: Apache-2.0
// A small sample package.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/memory_file_system.h"
#include "tfaot/package/package.h"

namespace tfaot::toolkit::testing {

using Files = std::map<std::string, std::string>;  // path -> contents

inline const std::string kStem = "tfaot-model-test-1.0.0-x86_64-linux";

std::vector<StagedFile> sample_files();
// A manifest of tfaot-model-test 1.0.0 that lists the files.
Manifest sample_manifest(const std::vector<StagedFile>& files);
// write_tree() of the sample, which must succeed.
void write_sample(FileSystem& fs, const Path& root);

// Path -> contents of every file below the root.
Files contents_of(const FileSystem& fs, const Path& root);

}  // namespace tfaot::toolkit::testing
