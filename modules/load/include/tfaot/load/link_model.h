// SPDX-License-Identifier: Apache-2.0
// Links the objects of a package into a shared library that LoadedModel can open. Kernels come from
// the runtime in the package, so what runs is what the package's users link. Compiles nothing:
// starts the linker, `ld -shared`.
#pragma once

#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

struct LinkRequest {
  Path tree;                  // of the package, verified
  Path output;                // written by the linker itself, so not in one step
  std::string machine;        // of this computer, "x86_64"
  std::string linker = "ld";  // looked up in PATH if it holds no '/'
};

// Error: the package is for another machine, or is too old to contain a runtime; there is no
// linker; the objects cannot be linked. Then there is no output.
Status link_model(FileSystem& fs, const Manifest& manifest, const LinkRequest& request);

}  // namespace tfaot::toolkit
