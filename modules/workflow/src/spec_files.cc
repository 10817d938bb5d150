// SPDX-License-Identifier: Apache-2.0
#include "spec_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "tfaot/base/hash.h"
#include "tfaot/base/staged_update.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/config/config.h"
#include "tfaot/generate/generate.h"
#include "tfaot/records/names.h"
#include "tfaot/release/spec.h"
#include "tfaot/workflow/model_tree.h"

namespace tfaot::toolkit {
namespace {

// Empty if it does not exist yet.
Result<std::string> read_list(const FileSystem& files, const Path& list) {
  if (files.kind(list) == FileKind::kMissing) return std::string();
  return files.read(list);
}

// The deepest folder that contains both.
Path common_folder(const Path& first, const Path& second) {
  Path common;
  auto a = first.begin();
  auto b = second.begin();
  for (; a != first.end() && b != second.end() && *a == *b; ++a, ++b) common /= *a;
  return common;
}

// True if a path that starts at `folder` and is followed part by part never leaves `root`.
bool stays_inside(const Path& root, const Path& folder, const Path& written) {
  if (written.is_absolute()) return false;
  const Path start = folder.lexically_relative(root);
  auto depth = start == "." ? 0 : std::distance(start.begin(), start.end());
  for (const Path& part : written) {
    if (part == "..") --depth;
    if (depth < 0) return false;
    if (part != ".." && part != "." && !part.empty()) ++depth;
  }
  return true;
}

// The config must still lead to its model if both are moved to another place.
Status check_movable(const ModelSpec& spec, const Path& root) {
  const ModelSection& model = spec.model;
  if (stays_inside(root, spec.config_file.parent_path(), model.written_source)) return {};
  return fail(Error::at({spec.config_file.string()},
                        fmt::format("the model's path is absolute ({}), so a source archive of "
                                    "config and model would not lead to it",
                                    model.source.string()))
                  .note("write it relative to the config"));
}

std::string without_slash(const std::string& path) {
  return path.starts_with('/') ? path.substr(1) : path;
}

Error no_such_config(const UnpackedArchive& unpacked, const std::string& config) {
  constexpr std::size_t kMost = 5;
  Error error =
      Error::at({unpacked.archive.string()}, fmt::format("does not contain '{}'", config));
  std::vector<std::string> configs;
  for (const std::string& path : unpacked.paths) {
    const std::string extension = Path(path).extension().string();
    if (extension == ".yaml" || extension == ".yml") configs.push_back(path);
  }
  if (configs.empty()) return std::move(error).note("there is no .yaml file in it");
  if (configs.size() > kMost) configs.resize(kMost);
  return std::move(error).note("it holds " + join(configs, ", "));
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

Result<SpecSource> source_of_files(const Context& context, const Path& config) {
  SpecSource source;
  TFAOT_ASSIGN(source.spec, load_model_spec(context.files, config));
  const Path root = common_folder(config.parent_path(), source.spec.model.source.parent_path());
  TFAOT_TRY(check_movable(source.spec, root));
  TFAOT_ASSIGN(const std::vector<Path> files, model_files(context.files, source.spec.model.source));
  for (const Path& file : files) {
    source.made.files.push_back({file.lexically_relative(root).string(), "", file});
  }
  const std::string inside = config.lexically_relative(root).string();
  source.made.files.push_back({inside, "", config});
  source.top =
      default_tool_name(source.spec.model.name) + "-" + rpm_version(source.spec.model.version);
  source.made.folder = source.top;
  source.config = source.top + "/" + inside;
  return source;
}

Result<SpecSource> source_of_archive(const Context& context, const UnpackedArchive& unpacked,
                                     const std::string& config) {
  SpecSource source;
  source.archive = unpacked.archive;
  source.top = top_folder(unpacked.paths);
  const auto is_there = [&](const std::string& path) {
    return std::ranges::binary_search(unpacked.paths, path);
  };
  source.config = without_slash(config);
  if (!is_there(source.config) && !source.top.empty()) {
    source.config = source.top + "/" + source.config;
  }
  if (!is_there(source.config)) return fail(no_such_config(unpacked, config));
  TFAOT_ASSIGN(source.spec, load_model_spec(context.files, unpacked.folder / source.config));
  const auto inside = source.spec.model.source.lexically_relative(unpacked.folder);
  if (!inside.empty() && inside.begin()->string() != "..") return source;
  return fail(Error::at({source.config},
                        fmt::format("the model '{}' is outside of the archive {}",
                                    source.spec.model.source.string(), unpacked.archive.string())));
}

SpecRecord spec_record(const SpecSource& source, const SpecWords& words, SpecFlavour flavour) {
  const ModelSection& model = source.spec.model;
  SpecRecord record;
  record.tool_name = words.tool_name.empty() ? default_tool_name(model.name) : words.tool_name;
  record.version = model.version;
  record.author = model.author;
  record.description = model.description;
  record.license = words.license;
  record.scram_arch = words.scram_arch;
  record.processor = processor_of(source.spec.compilation.target_triple);
  record.source = source.archive.empty()
                      ? fmt::format("{}-{}.tar", record.tool_name, rpm_version(record.version))
                      : source.archive.filename().string();
  record.config = source.config;
  if (flavour == SpecFlavour::kCmsdist && !source.top.empty()) {
    record.source_folder = source.top;
    record.config = source.config.substr(source.top.size() + 1);
  }
  return record;
}

Result<bool> is_source_archive(const Context& context, const SpecSource& source, const Path& file) {
  const FileSystem& files = context.files;
  if (source.archive == file) return true;
  if (files.kind(file) != FileKind::kFile) return false;
  TFAOT_ASSIGN(const std::string wanted, source.archive.empty()
                                             ? sha256_of_source_archive(files, source.made, file)
                                             : sha256_of_file(files, source.archive));
  const auto found = sha256_of_file(files, file);
  return found && *found == wanted;
}

Status put_source_archive(Context& context, const SpecSource& source, const Path& file) {
  if (source.archive.empty()) return write_source_archive(context.files, source.made, file);
  if (source.archive == file) return {};
  return context.files.copy_file(source.archive, file);
}

}  // namespace tfaot::toolkit
