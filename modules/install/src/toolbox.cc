// SPDX-License-Identifier: Apache-2.0
#include "toolbox.h"

#include "area_layout.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/scram/tool_file.h"

namespace tfaot::toolkit {
namespace {

// "TOOL", "VERSION" and the parts after them in AREA/TOOL/VERSION/...; empty outside of the area.
std::vector<std::string> parts_below(const Path& area, const Path& path) {
  std::vector<std::string> parts;
  for (const Path& part : path.lexically_normal().lexically_relative(area.lexically_normal())) {
    if (part == "." || part == "..") return {};
    if (!part.empty()) parts.push_back(part.string());
  }
  return parts;
}

// An earlier tfaot installed links into the version's folder, or through `current`.
bool is_link_of_ours(const FileSystem& fs, const Path& area, const Path& link) {
  const auto target = fs.read_symlink(link);
  if (!target) return false;
  const auto parts = parts_below(area, link.parent_path() / *target);
  return parts.size() == 5 && parts[2] == "etc" && parts[3] == "scram.d";
}

// Whether it is the installed tool file of the entry's version.
bool is_copy(const FileSystem& fs, const Path& area, const ToolboxEntry& entry,
             const std::string& text) {
  const auto installed =
      fs.read(area / entry.tool_name / entry.version / installed_tool_file(entry.tool_name));
  return installed && *installed == text;
}

}  // namespace

ToolboxEntry read_toolbox_entry(const FileSystem& fs, const Path& area, const Path& file) {
  using Maker = ToolboxEntry::Maker;
  const FileKind kind = fs.kind(file);
  if (kind == FileKind::kMissing) return {};
  const auto text = read_limited(fs, file, kToolFileLimit);
  const auto base =
      text ? tool_base_of({*text, file.string()}) : Result<std::string>(fail(text.error()));
  const auto parts = base ? parts_below(area, *base) : std::vector<std::string>();
  ToolboxEntry entry;
  if (parts.size() == 2 && is_tool_folder(fs, area / parts[0])) {
    entry.tool_name = parts[0];
    entry.version = parts[1];
  }
  const bool is_ours = (text && is_made_by_tfaot(*text)) ||
                       (kind == FileKind::kSymlink && is_link_of_ours(fs, area, file)) ||
                       (!entry.version.empty() && is_copy(fs, area, entry, *text));
  entry.maker = is_ours ? Maker::kTfaot : Maker::kOther;
  return entry;
}

std::vector<Path> tool_files_in(const FileSystem& fs, const Path& area,
                                const std::string& tool_name) {
  const Path toolboxes = toolbox_folder(area, "");
  const Path file = Path("tools") / "selected" / toolbox_file_name(tool_name);
  std::vector<std::string> folders = {""};
  for (std::string& arch : fs.list(toolboxes).value_or(std::vector<std::string>())) {
    folders.push_back(std::move(arch));
  }
  std::vector<Path> found;
  for (const std::string& folder : folders) {
    const Path candidate = toolbox_folder(area, folder) / file;
    const bool is_own = check_own_folders(fs, area, candidate).has_value();
    if (is_own && fs.kind(candidate) != FileKind::kMissing) found.push_back(candidate);
  }
  return found;
}

std::string toolkit_of_runtime(const FileSystem& fs, const Path& tool_file) {
  const auto text = read_limited(fs, tool_file, kToolFileLimit);
  if (!text) return "";
  const auto base = tool_base_of({*text, tool_file.string()});
  const auto heading = read_tool_heading(*text);
  if (!base || !heading) return "";
  const Path folder = *base;
  // It is in a folder that only scram knows ("$CMSSW_BASE/tfaot/net").
  if (!folder.is_absolute()) return heading->version;
  if (fs.kind(folder) == FileKind::kMissing) return "";
  if (!is_file(fs, folder / kManifestName)) return heading->version;  // a toolkit's own runtime
  const auto manifest = read_manifest(fs, folder / kManifestName);
  return manifest ? manifest->toolkit_version : "";
}

}  // namespace tfaot::toolkit
