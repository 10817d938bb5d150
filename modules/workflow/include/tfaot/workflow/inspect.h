// SPDX-License-Identifier: Apache-2.0
// Reads what packages, configs and release areas say of themselves: what `tfaot info` and `tfaot
// list` show. Changes nothing. Safe from many threads.
#pragma once

#include <variant>

#include "tfaot/base/result.h"
#include "tfaot/install/install_types.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What lies at a path, and what it says.
struct Inspected {
  enum class Kind { kArchive, kPackageTree, kConfig };
  Kind kind = Kind::kArchive;
  std::variant<Manifest, ModelSpec> content;  ///< a ModelSpec: of a config
};

/// Reads an archive's or a tree's manifest alone, not its files. Error: the path leads to something
/// else, or what is there is damaged.
Result<Inspected> inspect(const Context& context, const Path& path);

/// The name that a config gives its model; the model itself may still have to be made. Error: the
/// name is missing or wrong.
Result<ModelIdentity> identify(const Context& context, const Path& config);

/// The packages of a release area, and what is broken in it. Error: it is no release area.
Result<InstalledList> list_packages(const Context& context, const Path& area);

}  // namespace tfaot::toolkit
