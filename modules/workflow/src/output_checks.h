// SPDX-License-Identifier: Apache-2.0
// What must not be written over, looked for before anything is compiled or measured. Looks, changes
// nothing.
#pragma once

#include <string>

#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// Error when `folder` is, or would be, a version in a release area. `instead` says what to do.
Status check_not_installed(const FileSystem& files, const Path& folder, const std::string& instead);

// Error when the folder holds the package tree of another model.
Status check_holds_no_other_model(const FileSystem& files, const Path& folder,
                                  const std::string& model_name);

// Usage error when the folder lies in the model's own, whose files would then be others each time.
Status check_outside_model(const Path& folder, const Path& model);

// All three, for what will be written into a folder that the user named by -o.
Status check_new_tree(const FileSystem& files, const Path& folder, const ModelSection& model);

}  // namespace tfaot::toolkit
