// SPDX-License-Identifier: Apache-2.0
// Reads the description of packages, configs and release areas: what `tfaot info` and `tfaot list`
// show. Changes nothing. Safe from many threads.
#pragma once

#include <optional>
#include <variant>

#include "tfaot/base/result.h"
#include "tfaot/install/install_types.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/model_description.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What is at a path, and its description.
struct Inspected {
  enum class Kind { kArchive, kPackageTree, kConfig, kModel };
  Kind kind = Kind::kArchive;
  /// A ModelSpec for a config, a ModelDescription for a model.
  std::variant<Manifest, ModelSpec, ModelDescription> content;
};

/// Reads only the manifest of an archive or a tree, not its files. Starts the engine for a model.
/// Error: the path leads to something else, or to something damaged.
Result<Inspected> inspect(const Context& context, const Path& path);

/// Instructions beyond the CPU levels that a package's kernels of fewer bits use on this machine,
/// such as "avx512vnni"; empty: the machine has none of them; none: the package has no such kernel.
std::optional<std::string> instructions_beyond_levels(const Manifest& manifest);

/// AREA/NAME and AREA/NAME/VERSION of installed packages that begin with `word`, for shells.
std::vector<std::string> complete_package(const Context& context, const std::string& word);

/// The name that a config gives its model; the model itself need not exist yet. Error: the name is
/// missing or wrong.
Result<ModelIdentity> identify(const Context& context, const Path& config);

/// The packages of a release area, and its broken entries. Error: it is not a release area.
Result<InstalledList> list_packages(const Context& context, const Path& area);

}  // namespace tfaot::toolkit
