// SPDX-License-Identifier: Apache-2.0
#include "area_layout.h"

#include <fmt/format.h>
#include <string.h>  // strverscmp, which <cstring> does not promise

#include <algorithm>

#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/names.h"
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

// True if it is the installed tool file of the entry's version.
bool is_copy(const FileSystem& fs, const Path& area, const ToolboxEntry& entry,
             const std::string& text) {
  const auto installed =
      fs.read(area / entry.tool_name / entry.version / installed_tool_file(entry.tool_name));
  return installed && *installed == text;
}

}  // namespace

Path private_folder(const Path& area) { return area / ".tfaot"; }
Path policy_file(const Path& area) { return private_folder(area) / kPolicyName; }

Path installed_tool_file(const std::string& tool_name) {
  return in_area(kInstalledToolFile, {.tool = tool_name});
}

Path toolbox_folder(const Path& area, const std::string& scram_arch) {
  return scram_arch.empty() ? area / kToolboxes : area / kToolboxes / scram_arch;
}

AreaWords area_words(const InstallOptions& options, const std::string& tool_name,
                     const std::string& version) {
  return {.tool = tool_name,
          .version = version,
          .toolbox = toolbox_folder({}, options.scram_arch).string(),
          .file = toolbox_file_name(tool_name)};
}

Path runtime_tool_file(const InstallOptions& options) {
  return options.area /
         in_area(kAreaToolboxFile.path, area_words(options, std::string(kRuntimeToolName), ""));
}

bool is_area_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, is_name_character);
}

bool is_tool_folder_name(std::string_view name) {
  return is_area_name(name) && name != "lib" && name != "config";
}

bool is_tool_folder(const FileSystem& fs, const Path& folder) {
  if (fs.kind(folder) != FileKind::kDirectory) return false;
  if (fs.kind(folder / kCurrentName) == FileKind::kSymlink) return true;
  const Path tool_file = installed_tool_file(folder.filename().string());
  const auto names = fs.list(folder).value_or(std::vector<std::string>());
  return std::ranges::any_of(names, [&](const std::string& name) {
    return is_area_name(name) && fs.kind(folder / name / tool_file) == FileKind::kFile;
  });
}

Status check_inside_area(const FileSystem& fs, const Path& area, const Path& path) {
  Status own = check_own_folders(fs, area, path);
  if (own) return own;
  return fail(std::move(own).error().note("move it away, or choose another area"));
}

ToolboxEntry read_toolbox_entry(const FileSystem& fs, const Path& area, const Path& file) {
  using Maker = ToolboxEntry::Maker;
  const FileKind kind = fs.kind(file);
  if (kind == FileKind::kMissing) return {};
  const auto text = read_limited(fs, file, kToolFileLimit);
  const auto base =
      text ? tool_base_of({*text, file.string()}) : Result<std::string>(fail(text.error()));
  auto parts = base ? parts_below(area, *base) : std::vector<std::string>();
  if (base && parts.empty() && Path(*base).is_absolute()) {  // the area by another path, a link
    parts = parts_below(real_path(fs, area).value_or(area), real_path(fs, *base).value_or(*base));
  }
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
  std::vector<std::string> archs = fs.list(area / kToolboxes).value_or(std::vector<std::string>());
  archs.insert(archs.begin(), "");
  std::vector<Path> found;
  for (const std::string& arch : archs) {
    const AreaWords words = area_words({.area = area, .scram_arch = arch}, tool_name, "");
    const Path candidate = area / in_area(kAreaToolboxFile.path, words);
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

Result<std::vector<std::string>> list_tools(const FileSystem& fs, const Path& area) {
  TFAOT_ASSIGN(auto names, fs.list(area));
  std::erase_if(names, [&](const std::string& name) {
    return !is_tool_folder_name(name) || !is_tool_folder(fs, area / name);
  });
  return names;
}

Result<std::vector<std::string>> list_versions(const FileSystem& fs, const Path& tool_folder) {
  TFAOT_ASSIGN(auto names, fs.list(tool_folder));
  std::erase_if(names, [&](const std::string& name) {
    return !is_area_name(name) || name == kCurrentName ||
           fs.kind(tool_folder / name) != FileKind::kDirectory;
  });
  std::ranges::stable_sort(names, [](const std::string& a, const std::string& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;  // 1.9.0 before 1.10.0
  });
  return names;
}

std::string named_current(const FileSystem& fs, const Path& tool_folder) {
  const auto target = fs.read_symlink(tool_folder / kCurrentName);
  return target ? target->string() : "";
}

Status check_installed(const FileSystem& fs, const Path& area, const std::string& tool_name,
                       const std::string& version) {
  const Path folder = area / tool_name;
  TFAOT_TRY(check_inside_area(fs, area, folder / version / kManifestName));
  if (!is_tool_folder_name(tool_name) || !is_tool_folder(fs, folder)) {
    return fail(Error::at({area.string()}, fmt::format("no tool '{}' is installed", tool_name))
                    .note("'tfaot list' shows what is"));
  }
  TFAOT_ASSIGN(const auto versions, list_versions(fs, folder));
  if (version.empty() || contains(versions, version)) return {};
  return fail(
      Error::at({folder.string()}, fmt::format("version {} is not installed", shown(version)))
          .note("installed: " + join(versions, ", ")));
}

Result<AreaLock> AreaLock::acquire(const Path& area, std::function<void(pid_t)> on_wait) {
  RealFileSystem fs;
  const Path file = private_folder(area) / "lock";
  TFAOT_TRY(check_inside_area(fs, area, file));
  FileLock::Options options{.name = "the release area's lock", .on_wait = std::move(on_wait)};
  TFAOT_ASSIGN(FileLock lock, FileLock::acquire(file, options));
  AreaLock area_lock(std::move(lock));
  TFAOT_TRY(remove_leftovers(fs, area));
  return area_lock;
}

AreaLock& AreaLock::operator=(AreaLock&& other) noexcept {
  std::swap(lock_, other.lock_);
  std::swap(is_kept_, other.is_kept_);
  return *this;
}

AreaLock::~AreaLock() {
  if (!is_kept_ && lock_.file_is_new()) lock_.remove();
}

}  // namespace tfaot::toolkit
