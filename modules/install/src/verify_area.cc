// SPDX-License-Identifier: Apache-2.0
// Whether what an install put around the packages of an area is as an install leaves it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "area_history.h"
#include "area_layout.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/install/install.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/names.h"
#include "tfaot/scram/tool_file.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kRenew = "'tfaot use' of the current version renews it";

class AreaVerifier {
 public:
  AreaVerifier(const FileSystem& fs, const Path& area) : fs_(fs), area_(area) {}

  void check_version(const std::string& tool_name, const std::string& version) {
    const Path folder = area_ / tool_name / version;
    const auto manifest = read_manifest(fs_, folder / kManifestName);
    if (!manifest) return;  // the caller verifies the tree
    // A link would lead out of the area.
    if (fs_.kind(folder / kManifestName) != FileKind::kFile) {
      add(folder / kManifestName, "is not a regular file");
    }
    const std::string runtime(kRuntimeToolName);
    for (const std::string& tool : {tool_name, runtime}) {
      const bool is_packaged = fs_.kind(folder / (tool + ".xml")) == FileKind::kFile;
      if (is_packaged) check_installed_tool_file(folder, tool);
    }
    check_strays(folder, *manifest);
    check_library(folder, manifest->name);
  }

  void check_current(const std::string& tool_name) {
    const Path folder = area_ / tool_name;
    const Path link = folder / kCurrentName;
    const std::string version = named_current(fs_, folder);
    if (version.empty()) {
      if (fs_.kind(link) != FileKind::kMissing) add(link, "not a link to a version");
      return;
    }
    if (!is_area_name(version) || fs_.kind(folder / version) != FileKind::kDirectory) {
      return add(link, fmt::format("leads to '{}', which is not an installed version", version),
                 "'tfaot use' chooses another");
    }
    const AreaWords words{.tool = tool_name, .version = version};
    for (const AreaRow& row : kAreaLayout) {
      if (row.kind != AreaKind::kLink) continue;
      const Path place = area_ / in_area(row.path, words);
      if (Status own = check_own_folders(fs_, area_, place); !own) errors_.push_back(own.error());
      const auto target = fs_.read_symlink(place);
      if (target && *target == in_area(row.target, words)) continue;
      add(place, fmt::format("should be a link to {}", in_area(row.target, words)), kRenew);
    }
    check_toolboxes(tool_name, version);
  }

  // `tools`: all of the area.
  void check_runtime(const std::vector<std::string>& tools) {
    const std::string runtime(kRuntimeToolName);
    const std::vector<Path> files = tool_files_in(fs_, area_, runtime);
    const bool is_needed = std::ranges::any_of(tools, [&](const std::string& tool) {
      return fs_.kind(area_ / tool / named_current(fs_, area_ / tool) /
                      installed_tool_file(runtime)) == FileKind::kFile;
    });
    if (is_needed) check_some(files, runtime);
    for (const Path& file : files) {
      const ToolboxEntry entry = read_toolbox_entry(fs_, area_, file);
      if (entry.tool_name.empty()) {
        add(file, "leads to no package of the area", kRenew);
      } else {
        check_copy(file, entry.tool_name, entry.version, runtime);
      }
    }
  }

  void check_history() {
    const Path file = private_folder(area_) / kHistoryName;
    if (Status own = check_own_folders(fs_, area_, file); !own) errors_.push_back(own.error());
    if (fs_.kind(file) == FileKind::kMissing) return;
    const auto text = read_limited(fs_, file, kHistoryLimit);
    const Status whole = text ? check_history_hashes(*text, file.string()) : fail(text.error());
    if (!whole) return errors_.push_back(whole.error());
    const auto history = read_history(fs_, area_, "");
    if (!history) return errors_.push_back(history.error());
    for (const AreaEvent& event : *history) {
      if (event.action != AreaAction::kFound || !event.time.empty()) continue;
      const Path tool = area_ / event.tool_name;
      if (!event.is_present) add(tool / event.version, "is gone, and no verb removed it");
      if (event.current != event.current_before) {
        add(tool / kCurrentName,
            fmt::format("the last verb made {} current, and not {}",
                        shown_version(event.current_before), shown_version(event.current)));
      }
    }
  }

  std::vector<Error> take() { return std::move(errors_); }

 private:
  static std::string shown_version(const std::string& version) {
    return version.empty() ? "no version" : version;
  }

  void add(const Path& place, std::string what, const char* advice = nullptr) {
    Error error = Error::at({place.string()}, std::move(what));
    errors_.push_back(advice == nullptr ? std::move(error) : std::move(error).note(advice));
  }

  // It is the package's own with the base of its place.
  void check_installed_tool_file(const Path& folder, const std::string& tool) {
    const Path file = folder / installed_tool_file(tool);
    const auto packaged = read_limited(fs_, folder / (tool + ".xml"), kToolFileLimit);
    const auto text = read_limited(fs_, file, kToolFileLimit);
    const auto base = text ? tool_base_of({*text, file.string()}) : Result<std::string>("");
    // The base may be another path of the area, such as that of a link.
    const bool is_same = base && Path(*base).is_absolute() &&
                         real_path(fs_, *base).value_or("") == real_path(fs_, folder).value_or("");
    const std::string wanted_base = is_same ? *base : folder.string();
    const auto wanted = packaged ? rebase_tool_file({*packaged, folder.string()}, wanted_base)
                                 : Result<std::string>(fail(packaged.error()));
    if (!wanted) return errors_.push_back(wanted.error());
    const bool is_own = check_own_folders(fs_, area_, file).has_value();
    if (is_own && fs_.kind(file) == FileKind::kFile && text && *text == *wanted) return;
    add(file,
        base && !base->empty() && *base != wanted_base
            ? fmt::format("its base is {}: the area was moved", *base)
            : "differs from the package's tool file",
        kRenew);
  }

  // Files that no package has, and links in place of folders.
  void check_strays(const Path& folder, const Manifest& manifest) {
    std::set<std::string> known = {
        std::string(kManifestName), installed_tool_file(manifest.tool_name).string(),
        installed_tool_file(std::string(kRuntimeToolName)).string(),
        models_library_name(manifest.name), library_hash_name(manifest.name)};
    for (const ManifestFile& file : manifest.files) {
      known.insert(file.path);
      if (Status own = check_own_folders(fs_, folder, folder / file.path); !own) {
        return errors_.push_back(own.error());
      }
    }
    check_names(folder, "", known);
  }

  // All that is no folder, also pipes, devices and links to folders.
  void check_names(const Path& folder, const Path& below, const std::set<std::string>& known) {
    const auto names = fs_.list(folder / below);
    if (!names) return errors_.push_back(names.error());
    for (const std::string& name : *names) {
      const Path path = below / name;
      if (fs_.kind(folder / path) == FileKind::kDirectory) {
        check_names(folder, path, known);
      } else if (!known.contains(path.string())) {
        add(folder / path, "belongs to no package");
      }
    }
  }

  void check_library(const Path& folder, const std::string& model_name) {
    const Path library = folder / models_library_name(model_name);
    const Path hash = folder / library_hash_name(model_name);
    const bool is_there = fs_.kind(library) != FileKind::kMissing;
    if (!is_there && fs_.kind(hash) == FileKind::kMissing) return;
    if (has_whole_library(fs_, folder, model_name)) return;
    add(library, is_there ? "differs from the hash beside it" : "is missing, but its hash is there",
        "'tfaot install --link' makes it again");
  }

  void check_copy(const Path& file, const std::string& tool_name, const std::string& version,
                  const std::string& tool) {
    const Path packaged = area_ / tool_name / version / installed_tool_file(tool);
    const auto text = read_limited(fs_, file, kToolFileLimit);
    const auto wanted = read_limited(fs_, packaged, kToolFileLimit);
    // An earlier tfaot made links.
    const bool is_own = fs_.kind(file) == FileKind::kFile ||
                        real_path(fs_, file).value_or("") == real_path(fs_, packaged).value_or("");
    if (is_own && text && wanted && *text == *wanted) return;
    add(file, fmt::format("is not the tool file of {} {}", tool_name, version), kRenew);
  }

  // RPMs make no tool files in toolboxes.
  void check_some(const std::vector<Path>& tool_files, const std::string& tool) {
    if (!tool_files.empty() || fs_.kind(private_folder(area_)) != FileKind::kDirectory) return;
    add(area_ / kToolboxes, "holds no tool file of " + tool, kRenew);
  }

  void check_toolboxes(const std::string& tool_name, const std::string& version) {
    const std::vector<Path> files = tool_files_in(fs_, area_, tool_name);
    check_some(files, tool_name);
    for (const Path& file : files) check_copy(file, tool_name, version, tool_name);
  }

  const FileSystem& fs_;
  const Path& area_;
  std::vector<Error> errors_{};
};

}  // namespace

Result<std::string> library_hash_text(const FileSystem& fs, const Path& library,
                                      const std::string& model_name) {
  TFAOT_ASSIGN(const std::string sha256, sha256_of_file(fs, library));
  return fmt::format("{}  {}\n", sha256, Path(models_library_name(model_name)).filename().string());
}

bool has_whole_library(const FileSystem& fs, const Path& tree, const std::string& model_name) {
  const Path library = tree / models_library_name(model_name);
  if (fs.kind(library) != FileKind::kFile) return false;  // such as a link out of the area
  const auto wanted = library_hash_text(fs, library, model_name);
  const auto text = fs.read(tree / library_hash_name(model_name));
  return wanted && text && *wanted == *text;
}

Result<std::vector<InstalledVersion>> installed_versions(const FileSystem& fs, const Path& area) {
  TFAOT_ASSIGN(const auto tools, list_tools(fs, area));
  std::vector<InstalledVersion> found;
  for (const std::string& tool : tools) {
    TFAOT_ASSIGN(const auto versions, list_versions(fs, area / tool));
    for (const std::string& version : versions) found.push_back({tool, version});
  }
  return found;
}

std::vector<Error> verify_version(const FileSystem& fs, const Path& area,
                                  const InstalledVersion& installed) {
  AreaVerifier verifier(fs, area);
  verifier.check_version(installed.tool_name, installed.version);
  return verifier.take();
}

std::vector<Error> verify_area(const FileSystem& fs, const Path& area) {
  AreaVerifier verifier(fs, area);
  const auto tools = list_tools(fs, area).value_or(std::vector<std::string>());
  for (const std::string& tool : tools) verifier.check_current(tool);
  verifier.check_runtime(tools);
  verifier.check_history();
  return verifier.take();
}

}  // namespace tfaot::toolkit
