// SPDX-License-Identifier: Apache-2.0
#include "spec_files.h"

#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/interrupts.h"
#include "tfaot/release/spec.h"

namespace tfaot::toolkit {
namespace {

// Empty when there is none yet.
Result<std::string> read_list(const FileSystem& files, const Path& list) {
  if (files.kind(list) == FileKind::kMissing) return std::string();
  return files.read(list);
}

// Files made aside, to be renamed one after the other: all of them, or none.
class Renames {
 public:
  Renames(FileSystem& files, const Path& work) : files_(files), work_(work) {}
  Renames(const Renames&) = delete;
  Renames& operator=(const Renames&) = delete;
  ~Renames() {
    for (const Path& folder : made_) {
      const auto names = files_.list(folder);
      if (names && names->empty()) static_cast<void>(files_.remove_all(folder));
    }
  }

  // Where to make the file that goes to `place`.
  Path aside(const Path& place) {
    renames_.push_back({work_ / std::to_string(renames_.size()), place, {}});
    return renames_.back().from;
  }

  Status put(const Path& place, const std::string& text) {
    if (const auto old = files_.read(place); old && *old == text) return {};
    return files_.replace_atomically(aside(place), text);
  }

  void take_out(const Path& place) {
    renames_.push_back({place, work_ / std::to_string(renames_.size()), {}});
  }

  Status commit() {
    TFAOT_TRY(prepare());
    TFAOT_TRY(check_interrupts());
    const DespiteInterrupts commit;
    for (std::size_t done = 0; done < renames_.size(); ++done) {
      Status renamed = files_.rename(renames_[done].from, renames_[done].to);
      if (renamed) continue;
      while (done-- > 0) take_back(renames_[done]);
      return renamed;
    }
    made_.clear();
    return {};
  }

 private:
  struct Rename {
    Path from;
    Path to;
    Path copy;  // of what is replaced; empty: nothing is
  };

  // What takes space.
  Status prepare() {
    for (Rename& rename : renames_) {
      for (Path folder = rename.to.parent_path(); files_.kind(folder) == FileKind::kMissing;
           folder = folder.parent_path()) {
        made_.push_back(folder);
      }
      TFAOT_TRY(files_.create_directories(rename.to.parent_path()));
      if (files_.kind(rename.to) == FileKind::kMissing) continue;
      rename.copy = rename.from.string() + ".old";
      TFAOT_TRY(files_.copy_entry(rename.to, rename.copy));
    }
    return {};
  }

  void take_back(const Rename& rename) {
    static_cast<void>(rename.copy.empty() ? files_.rename(rename.to, rename.from)
                                          : files_.rename(rename.copy, rename.to));
  }

  FileSystem& files_;
  const Path work_;
  std::vector<Rename> renames_;
  std::vector<Path> made_;  // folders, deepest first
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
    TFAOT_TRY(put_source_archive(context, *output.source, renames.aside(archive)));
  }
  TFAOT_TRY(renames.put(folders.sources / kCompileFile, compile_file_text(flavour)));
  TFAOT_TRY(renames.put(written.spec_file, written.text));
  TFAOT_TRY(renames.put(folders.list, with_model(list, record.tool_name)));
  TFAOT_TRY(renames.commit());
  return written;
}

Result<bool> remove_spec(Context& context, const std::string& tool_name, const SpecOutput& output) {
  Renames renames(context.files, output.work);
  bool there = false;
  for (const SpecFlavour flavour : {SpecFlavour::kCmsdist, SpecFlavour::kRpm}) {
    const Path spec = spec_folders(output.folder, flavour).specs / (tool_name + ".spec");
    TFAOT_ASSIGN(const FileKind kind, context.files.look(spec));
    if (kind == FileKind::kMissing) continue;
    there = true;
    renames.take_out(spec);
  }
  const Path file = output.folder / kModelsFile;
  TFAOT_ASSIGN(const std::string list, read_list(context.files, file));
  const std::string rest = without_model(list, tool_name);
  if (rest != list) TFAOT_TRY(renames.put(file, rest));
  TFAOT_TRY(renames.commit());
  return there || rest != list;
}

}  // namespace tfaot::toolkit
