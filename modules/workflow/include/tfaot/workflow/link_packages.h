// SPDX-License-Identifier: Apache-2.0
// Packages -> a shared library whose models are loaded by name: what `tfaot link` and `tfaot
// install --link` do. Compiles nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/load_package.h"

namespace tfaot::toolkit {

/// Paths are absolute.
struct LinkPackagesRequest {
  std::vector<Path> packages;  ///< package trees, archives or installed models
  Path output;                 ///< the library's file
  bool allow_large = false;    ///< of archives, however large their unpacked files are
};

struct LinkedLibrary {
  Path file;
  std::uint64_t size = 0;  ///< bytes
  std::string sha256{};
  std::vector<Manifest> models{};  ///< in the order of the packages
};

/// The library replaces one at `output` in one step. Error: a package is damaged, too old or for
/// another machine, two have one name and version, or binutils is missing; then nothing was
/// written.
Result<LinkedLibrary> link_packages(Context& context, const LinkPackagesRequest& request);

/// The library of one verified tree. The file is new.
Status link_tree(Context& context, const Path& tree, const Path& library);

}  // namespace tfaot::toolkit
