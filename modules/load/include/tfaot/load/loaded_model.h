// SPDX-License-Identifier: Apache-2.0
// A package's code in this process: what a plugin gets from model.h, made at run time from the
// package's manifest and record. Runs nothing; Predictor does. Immutable; safe from many threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"
#include "tfaot/runtime/detail/description.h"

namespace tfaot::toolkit {

// Replaces an entry of the code by another function. May be empty.
using WrapEntry =
    std::function<::tfaot::EntryFunction(const CompiledCode& code, ::tfaot::EntryFunction entry)>;

class LoadedModel {
 public:
  // `library`: what link_model() made of the package with this manifest and record; the file may be
  // removed afterwards. Error: it cannot be loaded, or is of another package.
  static Result<std::shared_ptr<const LoadedModel>> open(const Path& library, Manifest manifest,
                                                         CompiledModel compiled,
                                                         const WrapEntry& wrap = {});
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;
  ~LoadedModel();

  const Manifest& manifest() const;
  const CompiledModel& compiled() const;
  // The file that open() got; a cache may have removed it since.
  const Path& file() const;
  // Lives as long as this object.
  const ::tfaot::Description& description() const;

 private:
  struct Parts;
  explicit LoadedModel(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

// Links the objects of a package into a shared library that LoadedModel can open. Kernels come from
// the runtime in the package, so what runs is what the package's users link. Compiles nothing:
// starts the linker, `ld -shared`.

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

}  // namespace tfaot::toolkit
