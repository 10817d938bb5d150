// SPDX-License-Identifier: Apache-2.0
// Writes spec files and the files that belong to them into a folder: rpmbuild's SPECS and SOURCES,
// or all in one folder, as in cmsdist. Equal files stay untouched.
#pragma once

#include "spec_source.h"
#include "tfaot/base/result.h"
#include "tfaot/release/release_types.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

struct SpecFolders {
  Path specs;
  Path sources;  // also for tfaot-compile.file
  Path list;     // tfaot-models.file
};
SpecFolders spec_folders(const Path& output, SpecFlavour flavour);

// Where the record's source archive goes. If a Source is not an address, CMS's build tool takes it
// from SOURCE.file.
Path source_file(const Path& output, const SpecRecord& record, SpecFlavour flavour);

struct WrittenSpec {
  Path spec_file;
  std::string text;  // of the spec file
};
struct SpecOutput {
  Path folder;
  Path work;                           // on the same disk, for temporary files
  const SpecSource* source = nullptr;  // its archive is written too
};
// Writes the spec file, tfaot-compile.file, the model in the list and the source archive: all to
// temporary files that are then renamed, so that a full disk or a signal leaves the old ones or the
// new ones.
Result<WrittenSpec> write_spec(Context& context, const SpecRecord& record, SpecFlavour flavour,
                               const SpecOutput& output);

// Removes the spec file, and the model from the list; false if there was neither.
Result<bool> remove_spec(Context& context, const std::string& tool_name, const SpecOutput& output);

}  // namespace tfaot::toolkit
