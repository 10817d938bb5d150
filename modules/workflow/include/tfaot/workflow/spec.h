// SPDX-License-Identifier: Apache-2.0
// The files from which an RPM of a model is built: what `tfaot spec` does. They are written to
// temporary files, then renamed, so that a full disk or a signal leaves the old ones or the new
// ones. Two calls with one output folder wait for each other.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/release/release_types.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What to write. Paths are absolute.
struct SpecRequest {
  Path output_directory;
  SpecFlavour flavour = SpecFlavour::kCmsdist;
  std::string config;          ///< the model's config; with a source, its path in the archive
  Path source;                 ///< a tar with config and model; empty: one is made from the files
  std::string source_url{};    ///< cmsdist: the spec's Source, instead of the source
  std::string data_package{};  ///< cmsdist: the data package with the source, data-Sub-Pkg
  std::string tool_name{};     ///< of RPM and tool; empty: default_tool_name()
  std::string license = "unspecified";
  std::string scram_arch{};  ///< rpm: folder below config/toolbox for the tool file; empty: none
};

/// The files that were written.
struct SpecFiles {
  Path spec;
  Path source;  ///< empty: fetched when the RPM is built
  Path list;    ///< of all models
};

/// Error: config or archive is wrong, or rpm could not use one of the words.
Result<SpecFiles> write_spec_files(Context& context, const SpecRequest& request);

/// Removes the tool's spec file and its line in the list; false if there was neither.
Result<bool> remove_spec_files(Context& context, const Path& output_directory,
                               const std::string& tool_name);

}  // namespace tfaot::toolkit
