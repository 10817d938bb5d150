// SPDX-License-Identifier: Apache-2.0
// Finds out what must not be overwritten, before anything is compiled or measured. Only reads.
#pragma once

#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// Error if `folder` is, or would be, a version in a release area. `instead` says what to do.
Status check_not_installed(const FileSystem& files, const Path& folder, const std::string& instead);

// Error if the folder contains the package tree of another model.
Status check_holds_no_other_model(const FileSystem& files, const Path& folder,
                                  const std::string& model_name);

// Usage error if the folder is inside the model's own folder: then the model's files would change
// each time.
Status check_outside_model(const Path& folder, const Path& model);

// All three checks, for output into a folder that the user named with -o.
Status check_new_tree(const FileSystem& files, const Path& folder, const ModelSection& model);

}  // namespace tfaot::toolkit
