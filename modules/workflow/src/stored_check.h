// SPDX-License-Identifier: Apache-2.0
// Makes a package's stored check (records/stored_check.h) and runs it again. The code runs in
// runners (modules/runner), so damaged code ends no process of ours. Links the code anew: nothing
// is taken from a cache.
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/load/link.h"
#include "tfaot/records/stored_check.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/verify_packages.h"

namespace tfaot::toolkit {

struct RunnableCode {
  const Manifest& manifest;
  const CompiledModel& compiled;
  LinkRequest link;  // its output and machine are set here
  Path folder;       // existing, for scratch files
};

struct MadeCheck {
  std::optional<StoredCheck> check;
  std::string why_not;  // if there is none
};
// No check if this machine cannot run the code: it is for another processor, or the linker or the
// runner is not installed. Error: the code fails here, or the disk does.
Result<MadeCheck> make_stored_check(Context& context, const RunnableCode& code);

// Runs the check of a package tree whose hashes are right. Error: the code predicts something else
// than when the package was made, or cannot be run to its end. `package` is named in errors.
Result<DeepCheck> run_stored_check(Context& context, const Path& tree, const Manifest& manifest,
                                   const Path& package);

}  // namespace tfaot::toolkit
