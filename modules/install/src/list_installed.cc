// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "area_layout.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

Error broken(const Path& folder, const std::string& reason) {
  return Error::at({folder.string()}, "the installed package is broken: " + reason);
}

// The manifest shows that it is the package to be installed, so plan_install() repairs it.
Error damaged(const Path& folder, const std::string& reason) {
  return broken(folder, reason).note("install it again, or remove the folder");
}

// It may be another package; plan_install() replaces it only on request.
Error unknown(const Path& folder, const std::string& reason) {
  return broken(folder, reason).note("install it again with --replace, or remove the folder");
}

// AREA/TOOL for AREA/NAME.
Path by_model_name(const Path& path) {
  return path.parent_path() / default_tool_name(path.filename().string());
}

// The version that `current` leads to; empty if there is none.
Result<std::string> current_version(const FileSystem& fs, const Path& link) {
  TFAOT_ASSIGN(const FileKind kind, fs.look(link));
  if (kind == FileKind::kMissing) return std::string();
  if (kind != FileKind::kSymlink) {
    return fail(Error::at({link.string()}, "should be a link to an installed version")
                    .note("move it away, then install a version again"));
  }
  TFAOT_ASSIGN(const Path target, fs.read_symlink(link));
  if (is_area_name(target.string()) &&
      fs.kind(link.parent_path() / target) == FileKind::kDirectory) {
    return target.string();
  }
  return fail(Error::at({link.string()},
                        "leads to '" + target.string() + "', which is not an installed version")
                  .note("install a version again to renew the link"));
}

Result<Manifest> read_installed(const FileSystem& fs, const Path& folder) {
  const Path manifest_file = folder / kManifestName;
  TFAOT_ASSIGN(const FileKind kind, fs.look(manifest_file));
  if (kind != FileKind::kFile) return fail(unknown(folder, "it holds no manifest.json"));
  auto manifest = read_manifest(fs, manifest_file);
  if (!manifest) {
    return fail(unknown(folder, "its manifest is not valid: " + manifest.error().text()));
  }
  if (folder.filename() != manifest->version ||
      folder.parent_path().filename() != manifest->tool_name) {
    return fail(unknown(
        folder, "its manifest.json is for " + manifest->tool_name + " " + manifest->version));
  }
  for (const ManifestFile& file : manifest->files) {
    TFAOT_ASSIGN(const FileKind there, fs.look(folder / file.path));
    if (there == FileKind::kMissing) return fail(damaged(folder, "it lacks " + file.path));
    if (there != FileKind::kFile) return fail(damaged(folder, file.path + " is not a file"));
    TFAOT_ASSIGN(const auto size, fs.size(folder / file.path));
    if (size != file.size) {
      return fail(damaged(folder, file.path + " has the wrong size"));
    }
  }
  return manifest;
}

// Reports toolboxes with another version than `current`, which a killed install may leave.
void check_toolboxes(const FileSystem& fs, const Path& area, const std::string& tool,
                     const std::string& current, std::vector<Error>& broken) {
  for (const Path& file : tool_files_in(fs, area, tool)) {
    const ToolboxEntry entry = read_toolbox_entry(fs, area, file);
    if (entry.tool_name != tool || entry.version == current) continue;
    broken.push_back(
        Error::at({file.string()}, fmt::format("the tool file is for version {}, but {} is current",
                                               entry.version, current))
            .note("install the version that you want again"));
  }
}

}  // namespace

bool is_release_area(const FileSystem& fs, const Path& folder) {
  if (fs.kind(private_folder(folder)) == FileKind::kDirectory) return true;
  return !list_tools(fs, folder).value_or(std::vector<std::string>()).empty();
}

std::optional<Path> installed_tree(const FileSystem& fs, const Path& path) {
  constexpr int kMostLooks = 3;  // the version may be removed right after another one is current
  for (const Path& folder : {path, by_model_name(path)}) {
    for (int look = 0; look < kMostLooks; ++look) {
      const auto version = fs.read_symlink(folder / kCurrentName);
      if (!version) break;
      if (is_file(fs, folder / *version / kManifestName)) return folder / *version;
    }
  }
  const Path tree = by_model_name(path.parent_path()) / path.filename();
  if (is_tool_folder(fs, tree.parent_path()) && is_file(fs, tree / kManifestName)) return tree;
  return std::nullopt;
}

std::vector<std::string> installed_names(const FileSystem& fs, const Path& folder,
                                         const std::string& word) {
  const std::string parent = word.substr(0, word.rfind('/') + 1);  // with its '/'
  const std::string begin = word.substr(parent.size());
  const auto names_in = [&fs](const Path& place) {
    return fs.list(place).value_or(std::vector<std::string>());
  };
  std::vector<std::string> found;
  const Path area = (folder / word).parent_path();
  for (const std::string& tool : names_in(area)) {
    if (!tool.starts_with(default_tool_name(begin)) || !is_tool_folder(fs, area / tool)) continue;
    found.push_back(parent + tool.substr(default_tool_name("").size()));
  }
  const Path tool = by_model_name(area);
  for (const std::string& version : names_in(tool)) {
    const bool is_version = version != kCurrentName && is_file(fs, tool / version / kManifestName);
    if (is_version && version.starts_with(begin)) found.push_back(parent + version);
  }
  return found;
}

Result<InstalledList> list_installed(const FileSystem& fs, const Path& area) {
  TFAOT_ASSIGN(const auto tools, list_tools(fs, area));
  InstalledList list;
  for (const std::string& tool : tools) {
    const Path folder = area / tool;
    TFAOT_ASSIGN(const auto versions, list_versions(fs, folder));
    const auto current = current_version(fs, folder / kCurrentName);
    if (!current) list.broken.push_back(current.error());
    if (current && !current->empty()) check_toolboxes(fs, area, tool, *current, list.broken);
    for (const std::string& version : versions) {
      auto manifest = read_installed(fs, folder / version);
      if (manifest) {
        const bool is_current = current && *current == version;
        list.models.push_back({tool, version, is_current, *std::move(manifest)});
      } else {
        list.broken.push_back(std::move(manifest).error());
      }
    }
  }
  return list;
}

}  // namespace tfaot::toolkit
