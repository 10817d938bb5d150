// SPDX-License-Identifier: Apache-2.0
// Links the objects of packages into shared libraries. Compiles nothing: starts the assembler and
// the linker, `as` and `ld -shared`, both of binutils. Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

// A library that LoadedModel can open. Kernels come from the runtime in the package, so what runs
// is what the package's users link.

struct LinkRequest {
  Path tree;                       // of the package, verified; errors name it
  std::vector<Path> objects = {};  // of a tree that is not written yet; empty: the tree's
  Path runtime = {};               // the same: its libtfaot_runtime.a
  Path output;                     // written by the linker itself, so not in one step
  std::string machine;             // of this computer, "x86_64"
  std::string linker = "ld";       // looked up in PATH if it holds no '/'
};

// Error: the package is for another machine, or is too old to contain a runtime; there is no
// linker; the objects cannot be linked. Then there is no output.
Status link_model(FileSystem& fs, const Manifest& manifest, const LinkRequest& request);

// A library with the functions of tfaot/runtime/tfaot.h, and no other symbol that can be seen. All
// models in it share one runtime.

struct PackageToLink {
  Path tree;  // verified
  Manifest manifest;
  CompiledModel compiled;
};

struct LinkModelsRequest {
  std::vector<PackageToLink> packages;
  std::string machine;      // of all of them, "aarch64"
  bool is_foreign = false;  // not this computer's: its binutils know its standard libraries
  Path runtime;             // libtfaot_runtime.a of this toolkit for that machine
  std::string name;         // of the library, for those that link it: "libmodels.so"
  Path scratch;             // an empty folder for the linker's files and the output
  std::string assembler = "as";
  std::string linker = "ld";
};

// The library's file in `scratch`. The same packages in any folder give the same bytes. Error: two
// packages are of one name and version, have different code under one symbol, or are for different
// machines; otherwise as link_model().
Result<Path> link_models(FileSystem& fs, LinkModelsRequest request);

}  // namespace tfaot::toolkit
