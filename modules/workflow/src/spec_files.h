// SPDX-License-Identifier: Apache-2.0
// Writes spec files and the files that belong to them into a folder: rpmbuild's SPECS and SOURCES,
// or all in one folder, as in cmsdist. Equal files stay untouched.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/package/source_archive.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/release/release_types.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

// What an RPM is made from: a config and its model, as files or in a source archive. Writes only
// where it unpacks.

// A config and its model, and their places in a source archive.
struct SpecSource {
  ModelSpec spec;
  std::string config;  // its path in the archive, with the top folder
  std::string top;     // the archive's only top folder; empty: there are several
  Path archive;        // an existing one, to be copied; empty: `made` is written
  SourceArchive made;
};

// Config and model as files. In the archive they keep their places relative to each other.
Result<SpecSource> source_of_files(const Context& context, const Path& config);

// An unpacked archive.
struct UnpackedArchive {
  Path archive;
  Path folder;
  std::vector<std::string> paths;
};
// `config`: its path in the archive, with or without the archive's top folder.
Result<SpecSource> source_of_archive(const Context& context, const UnpackedArchive& unpacked,
                                     const std::string& config);

struct SpecWords {
  std::string tool_name;  // empty: default_tool_name()
  std::string license = "unspecified";
  std::string scram_arch{};
};
// The spec file's record; its Source is the archive's file name.
SpecRecord spec_record(const SpecSource& source, const SpecWords& words, SpecFlavour flavour);

// True if `file` is that archive already.
Result<bool> is_source_archive(const Context& context, const SpecSource& source, const Path& file);
// Writes or copies the archive.
Status put_source_archive(Context& context, const SpecSource& source, const Path& file);

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
