// SPDX-License-Identifier: Apache-2.0
// A package's code in this process: what a plugin gets from model.h, made at run time from the
// package's manifest and record. Runs nothing; Predictor does. Immutable; safe from many threads.
#pragma once

#include <functional>
#include <memory>
#include <string>

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
  // `library`: what link_model() (link.h) made of the package with this manifest and record; the
  // file may be removed afterwards. Error: it cannot be loaded, or is of another package.
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

}  // namespace tfaot::toolkit
