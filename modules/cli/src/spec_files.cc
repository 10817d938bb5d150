// SPDX-License-Identifier: Apache-2.0
#include "spec_files.h"

#include "tfaot/release/spec.h"

namespace tfaot {
namespace {

// Empty when there is none yet.
Result<std::string> read_list(const FileSystem& files, const Path& list) {
  if (files.kind(list) == FileKind::kMissing) return std::string();
  return files.read(list);
}

}  // namespace

SpecFolders spec_folders(const Path& output, SpecFlavour flavour) {
  const bool flat = flavour == SpecFlavour::kCmsdist;
  return {.specs = flat ? output : output / "SPECS",
          .sources = flat ? output : output / "SOURCES",
          .list = output / kModelsFile};
}

Path source_file(const Path& output, const SpecRecord& record, SpecFlavour flavour) {
  const char* const suffix = flavour == SpecFlavour::kCmsdist ? ".file" : "";
  return spec_folders(output, flavour).sources / (record.source + suffix);
}

Result<WrittenSpec> write_spec(Context& context, const SpecRecord& record, SpecFlavour flavour,
                               const Path& output) {
  const SpecFolders folders = spec_folders(output, flavour);
  WrittenSpec written{.spec_file = folders.specs / (record.tool_name + ".spec"), .text = {}};
  TFAOT_ASSIGN(written.text, spec_text(record, flavour));
  TFAOT_ASSIGN(const std::string list, read_list(context.files, folders.list));
  TFAOT_TRY(
      write_if_changed(context.files, folders.sources / kCompileFile, compile_file_text(flavour)));
  TFAOT_TRY(write_if_changed(context.files, written.spec_file, written.text));
  TFAOT_TRY(write_if_changed(context.files, folders.list, with_model(list, record.tool_name)));
  return written;
}

Result<bool> remove_spec(Context& context, const std::string& tool_name, const Path& output) {
  bool there = false;
  for (const SpecFlavour flavour : {SpecFlavour::kCmsdist, SpecFlavour::kRpm}) {
    const Path spec = spec_folders(output, flavour).specs / (tool_name + ".spec");
    if (context.files.kind(spec) == FileKind::kMissing) continue;
    there = true;
    TFAOT_TRY(context.files.remove_all(spec));
  }
  const Path file = output / kModelsFile;
  TFAOT_ASSIGN(const std::string list, read_list(context.files, file));
  const std::string rest = without_model(list, tool_name);
  if (rest == list) return there;
  TFAOT_TRY(context.files.replace_atomically(file, rest));
  return true;
}

}  // namespace tfaot
