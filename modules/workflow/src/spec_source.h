// SPDX-License-Identifier: Apache-2.0
// What an RPM is made from: a config and its model, as files or in a source archive. Writes only
// where it unpacks.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/package/source_archive.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/release/release_types.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

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

// Whether `file` is that archive already.
Result<bool> is_source_archive(const Context& context, const SpecSource& source, const Path& file);
// Writes or copies the archive.
Status put_source_archive(Context& context, const SpecSource& source, const Path& file);

}  // namespace tfaot::toolkit
