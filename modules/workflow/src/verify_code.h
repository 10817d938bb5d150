// SPDX-License-Identifier: Apache-2.0
// Reads the objects of a package without running them: what they import, sections that run or keep
// something by themselves, and, with a disassembler, instructions that arithmetic does not need.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/package/package_types.h"
#include "tfaot/records/manifest.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/verify_packages.h"

namespace tfaot::toolkit {

// The symbols that the objects among these files import from outside of the package, sorted.
// Error: one of them is not an object.
Result<std::vector<std::string>> imports_of(const FileSystem& fs,
                                            const std::vector<StagedFile>& files);

// REQUIRES: the tree's files are those of its manifest. Adds what it finds to `faults`, which name
// `package`. Error: interrupted.
Result<CodeCheck> check_code(Context& context, const Path& tree, const Manifest& manifest,
                             const Path& package, std::vector<Error>& faults);

}  // namespace tfaot::toolkit
