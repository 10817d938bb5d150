// SPDX-License-Identifier: Apache-2.0
// Whether packages are as they were made: what `tfaot verify` does. Only reads, takes no lock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// A package, or what is around the packages of an area.
struct VerifiedItem {
  Path path;                ///< of the tree, the archive or the area
  std::string tool_name{};  ///< empty for an area, and for what cannot be read
  std::string version{};
  std::size_t files = 0;    ///< that were compared with their SHA-256
  std::uint64_t bytes = 0;  ///< in these
  std::vector<Error> faults{};
};

/// Verifies an area with all its packages, a package tree or an archive. Error: `path` is none of
/// them.
Result<std::vector<VerifiedItem>> verify_packages(const Context& context, const Path& path);

}  // namespace tfaot::toolkit
