// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/named_paths.h"

#include <fmt/format.h>

#include "tfaot/base/text.h"
#include "tfaot/install/install.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/model_files.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kMostNames = 5;

constexpr const char* kSavedModelBinary = "saved_model.pb";
constexpr const char* kSavedModelText = "saved_model.pbtxt";

bool is_in_saved_model(const Path& file) {
  return file.filename() == kSavedModelBinary || file.filename() == kSavedModelText;
}

struct Found {
  std::string what;
  std::string next{};  // what the user can do with it
};

bool has_config_name(const Path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// Of a SavedModel's folder, or of a file by its name.
std::optional<ModelFormat> model_format(const FileSystem& files, const Path& path) {
  if (is_in_saved_model(path)) return std::nullopt;
  if (is_file(files, path)) return format_of_file(path);
  return holds_saved_model(files, path) ? std::make_optional(ModelFormat::kSavedModel)
                                        : std::nullopt;
}

// A tar.zst, tar.gz or tar.
bool is_archive(const FileSystem& files, const Path& path) {
  const std::string head = files.read_range(path, {0, 262}).value_or("");
  return head.starts_with("\x28\xB5\x2F\xFD") || head.starts_with("\x1F\x8B") ||
         head.ends_with("ustar");
}

std::string compile_advice(ModelFormat format, const std::string& word) {
  if (format != ModelFormat::kFrozenGraph) {
    return fmt::format("'tfaot compile {} -o OUT' makes a package tree from it", word);
  }
  return fmt::format(
      "'tfaot init {}' writes a config for it, from which 'tfaot compile' makes a package tree",
      word);
}

Found found_folder(const FileSystem& files, const Path& path) {
  if (is_file(files, path / kRecordName)) {
    return {fmt::format("a package tree without its {}", kManifestName),
            "copy the whole tree again, or make it again by 'tfaot compile'"};
  }
  std::vector<std::string> names = files.list(path).value_or(std::vector<std::string>());
  if (names.empty()) return {"an empty folder"};
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  return {"a folder that holds " + join(names, ", ")};
}

Found found_at(const FileSystem& files, const Path& path) {
  const std::string word = shell_quoted(path.string());
  const bool folder = is_folder(files, path);
  if (!folder && path.filename() == kManifestName) {
    return {"the manifest of a package tree",
            "the package tree is its folder, " + path.parent_path().string()};
  }
  if (!folder && is_in_saved_model(path)) {
    return {"a file of a SavedModel",
            "the model is its folder, " + shell_quoted(path.parent_path().string())};
  }
  const ForeignModel* const foreign = folder ? nullptr : foreign_model(files, path);
  if (foreign != nullptr) return {foreign->what, foreign->next};
  const NamedPath named = named_path(files, path);
  switch (named.path == path ? named.kind : PathKind::kOther) {
    case PathKind::kPackageTree:
      return {
          "a package tree",
          fmt::format("'tfaot package {}' makes an archive from it; 'tfaot run', 'validate' and "
                      "'profile' take it",
                      word)};
    case PathKind::kTornTree:
      return {"a package tree that a killed run left incomplete",
              "run that command again: 'tfaot compile', 'update-weights' or 'tune' completes it"};
    case PathKind::kConfig:
      return {"a config",
              fmt::format("'tfaot compile -c {} -o OUT' makes a package tree from it", word)};
    case PathKind::kModel:
      return {folder ? "a SavedModel" : one_of(*named.format), compile_advice(*named.format, word)};
    case PathKind::kArchive:
      return {"an archive",
              fmt::format("'tfaot install {} --release-area AREA' installs it", word)};
    case PathKind::kOther:
      break;
  }
  if (is_release_area(files, path)) {
    return {"a release area", fmt::format("'tfaot list {}' lists the packages in it", word)};
  }
  if (folder) return found_folder(files, path);
  const auto size = files.size(path);
  if (!size) return {"a broken link, or not a regular file"};
  return {*size == 0 ? "an empty file" : "a file, but neither a tar.zst nor a tar.gz"};
}

}  // namespace

bool is_package_tree(const FileSystem& files, const Path& path) {
  return is_file(files, path / kManifestName);
}

// A SavedModel comes first: programs of others have a manifest.json, too.
NamedPath named_path(const FileSystem& files, const Path& path) {
  const bool file = is_file(files, path);
  if (file && path.filename() == kManifestName) {
    return {PathKind::kPackageTree, path.parent_path()};
  }
  if (file && has_config_name(path)) return {PathKind::kConfig, path};
  if (const auto format = model_format(files, path)) return {PathKind::kModel, path, format};
  if (is_package_tree(files, path)) return {PathKind::kPackageTree, path};
  if (is_torn_tree(files, path)) return {PathKind::kTornTree, path};
  if (const auto tree = installed_tree(files, path)) return {PathKind::kPackageTree, *tree};
  return {is_archive(files, path) ? PathKind::kArchive : PathKind::kOther, path};
}

// Not every manifest.json is one of ours.
Status check_outside_packages(const FileSystem& files, const std::string& option,
                              const Path& path) {
  for (Path folder = path; folder.has_relative_path(); folder = folder.parent_path()) {
    if (!is_package_tree(files, folder) || !read_tree(files, folder)) continue;
    return fail(Error::usage(fmt::format("{}: '{}' is in the package tree '{}'", option,
                                         path.string(), folder.string()))
                    .note("choose a folder outside of it"));
  }
  return {};
}

Result<ModelSpec> spec_at(const FileSystem& files, const Path& path,
                          const ConfigOverrides& overrides) {
  if (has_config_name(path)) return load_model_spec(files, path, overrides);
  const auto format = model_format(files, path);
  if (!format) {
    return fail(wrong_input(files, path, {"a model is " + model_kinds(), ""}));
  }
  if (*format != ModelFormat::kFrozenGraph) {
    return spec_without_config(files, path, *format, overrides);
  }
  return fail(Error::at({path.string()},
                        "a frozen graph needs a config: it does not say what its inputs and "
                        "outputs are")
                  .note(fmt::format("'tfaot init {}' writes one", shell_quoted(path.string()))));
}

std::string model_kinds() {
  return "a SavedModel's folder, an ONNX file, a frozen graph (.pb) or a file with StableHLO "
         "(.mlir, "
         ".stablehlo, .jax)";
}

Error wrong_input(const FileSystem& files, const Path& path, const Wanted& wanted) {
  const auto with_source = [&wanted](Error error) {
    if (!wanted.from.empty()) error.note(wanted.from);
    return error;
  };
  const auto kind = files.look(path);
  if (!kind) return kind.error();
  if (*kind == FileKind::kMissing) {
    return with_source(Error::at({path.string()}, "no such file or folder").note(wanted.what));
  }
  if (*kind == FileKind::kDirectory) {  // an unreadable folder is not an empty one
    if (const auto names = files.list(path); !names) return names.error();
    if (const auto inside = files.look(path / kManifestName); !inside) return inside.error();
  }
  const Found found = found_at(files, path);
  Error error = Error::at({path.string()}, fmt::format("{}; {}", found.what, wanted.what));
  if (found.next.empty()) return with_source(std::move(error));
  return std::move(error).note(found.next);
}

}  // namespace tfaot::toolkit
