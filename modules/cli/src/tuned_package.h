// SPDX-License-Identifier: Apache-2.0
// Tunes a package tree in place, or an archive into an archive. The package stays as it was until
// the measuring is done.
#pragma once

#include "context.h"
#include "tfaot/base/result.h"
#include "tfaot/tune/tune.h"

namespace tfaot::toolkit {

// `options`: without tree, work_directory and program, which are set here.
Result<Manifest> tune_tree(Context& context, const Path& tree, const TuneOptions& options);

struct ArchivePaths {
  Path input;
  Path output;  // may be the input
  bool allow_large = false;
};
Result<Manifest> tune_archive(Context& context, const ArchivePaths& paths,
                              const TuneOptions& options);

}  // namespace tfaot::toolkit
