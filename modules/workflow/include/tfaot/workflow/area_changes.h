// SPDX-License-Identifier: Apache-2.0
// The life of packages in a release area after their install: which version users get, what is
// removed, and who did it. Changes are complete or not made at all, wait for each other, and are
// written into the area's history.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/install/install_types.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/install_archives.h"

namespace tfaot::toolkit {

/// A change of one model of an area.
struct AreaRequest {
  Path release_area{};       ///< absolute
  std::string model{};       ///< the tool's name, or the model's
  std::string version{};     ///< empty: see the function
  std::string scram_arch{};  ///< as for an install
  bool dry_run = false;      ///< only say what would change; needs no permission to write
};

/// Makes an installed version the current one, as an install of it does.
Result<InstalledArchive> use_version(Context& context, const AreaRequest& request);
/// The same for the version that was current before the current one.
Result<InstalledArchive> roll_back(Context& context, const AreaRequest& request);
/// Removes a version, or without one all of the model. Error: users get the version and others are
/// installed, or the other models need its runtime.
Result<RemovalPlan> remove_versions(Context& context, const AreaRequest& request);

/// What garbage collection removes.
struct GarbageRequest {
  Path release_area{};  ///< absolute
  unsigned days = 30;   ///< versions that users have not got for as long
  bool dry_run = false;
};
/// Removes versions that are not current, and what killed runs left. A version of which the history
/// knows nothing yet counts from now on.
Result<std::vector<RemovalPlan>> collect_garbage(Context& context, const GarbageRequest& request);

/// The history of an area, or of one of its models, the oldest change first.
Result<std::vector<AreaEvent>> area_history(const Context& context, const Path& release_area,
                                            const std::string& model);

}  // namespace tfaot::toolkit
