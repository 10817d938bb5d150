// SPDX-License-Identifier: Apache-2.0
#include "spec_files.h"

#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/interrupts.h"
#include "tfaot/release/spec.h"

namespace tfaot {
namespace {

// Empty when there is none yet.
Result<std::string> read_list(const FileSystem& files, const Path& list) {
  if (files.kind(list) == FileKind::kMissing) return std::string();
  return files.read(list);
}

// Files made aside, to be renamed one after the other.
class Renames {
 public:
  Renames(FileSystem& files, const Path& work) : files_(files), work_(work) {}

  // Where to make the file that goes to `place`.
  Result<Path> aside(const Path& place) {
    TFAOT_TRY(files_.create_directories(place.parent_path()));
    renames_.emplace_back(work_ / std::to_string(renames_.size()), place);
    return renames_.back().first;
  }

  Status put(const Path& place, const std::string& text) {
    if (const auto old = files_.read(place); old && *old == text) return {};
    TFAOT_ASSIGN(const Path path, aside(place));
    return files_.replace_atomically(path, text);
  }

  Status commit() {
    TFAOT_TRY(check_interrupts());
    const DespiteInterrupts commit;
    for (const auto& [from, to] : renames_) TFAOT_TRY(files_.rename(from, to));
    return {};
  }

 private:
  FileSystem& files_;
  const Path work_;
  std::vector<std::pair<Path, Path>> renames_;
};

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
  Renames renames(context.files, output.work / record.tool_name);
  const Path archive = source_file(output.folder, record, flavour);
  if (output.source != nullptr && output.source->archive != archive) {
    TFAOT_ASSIGN(const Path aside, renames.aside(archive));
    TFAOT_TRY(put_source_archive(context, *output.source, aside));
  }
  TFAOT_TRY(renames.put(folders.sources / kCompileFile, compile_file_text(flavour)));
  TFAOT_TRY(renames.put(written.spec_file, written.text));
  TFAOT_TRY(renames.put(folders.list, with_model(list, record.tool_name)));
  TFAOT_TRY(renames.commit());
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
