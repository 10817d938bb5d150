// SPDX-License-Identifier: Apache-2.0
#include "spec_files.h"

#include <string>
#include <utility>

#include "tfaot/base/staged_update.h"
#include "tfaot/release/spec.h"

namespace tfaot::toolkit {
namespace {

// Empty if it does not exist yet.
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
                               const SpecOutput& output) {
  const SpecFolders folders = spec_folders(output.folder, flavour);
  WrittenSpec written{.spec_file = folders.specs / (record.tool_name + ".spec"), .text = {}};
  TFAOT_ASSIGN(written.text, spec_text(record, flavour));
  TFAOT_ASSIGN(const std::string list, read_list(context.files, folders.list));
  StagedUpdate update(context.files, output.work / record.tool_name);
  const Path archive = source_file(output.folder, record, flavour);
  if (output.source != nullptr) {
    TFAOT_ASSIGN(const bool is_there, is_source_archive(context, *output.source, archive));
    if (!is_there) {
      const Path made = update.aside();
      TFAOT_TRY(put_source_archive(context, *output.source, made));
      TFAOT_TRY(update.put_made(made, archive));
    }
  }
  TFAOT_TRY(update.put_file(compile_file_text(flavour), folders.sources / kCompileFile));
  TFAOT_TRY(update.put_file(written.text, written.spec_file));
  TFAOT_TRY(update.put_file(with_model(list, record.tool_name), folders.list));
  TFAOT_TRY(update.commit());
  return written;
}

Result<bool> remove_spec(Context& context, const std::string& tool_name, const SpecOutput& output) {
  StagedUpdate update(context.files, output.work / tool_name);
  bool there = false;
  for (const SpecFlavour flavour : {SpecFlavour::kCmsdist, SpecFlavour::kRpm}) {
    const Path spec = spec_folders(output.folder, flavour).specs / (tool_name + ".spec");
    TFAOT_ASSIGN(const FileKind kind, context.files.look(spec));
    if (kind == FileKind::kMissing) continue;
    there = true;
    TFAOT_TRY(update.take_out(spec));
  }
  const Path file = output.folder / kModelsFile;
  TFAOT_ASSIGN(const std::string list, read_list(context.files, file));
  const std::string rest = without_model(list, tool_name);
  if (rest != list) TFAOT_TRY(update.put_file(rest, file));
  TFAOT_TRY(update.commit());
  return there || rest != list;
}

}  // namespace tfaot::toolkit
