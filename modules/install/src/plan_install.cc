// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <string.h>  // strverscmp, which <cstring> does not promise

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "area_layout.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/install/install_types.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit {
namespace {

// Whether an install would replace something that tfaot did not make, or another tool's file. Only
// reads the disk.

constexpr const char* kAdvice =
    "move it away, or give the package another tool name (--tool-name of 'tfaot compile')";

Error not_ours(const Path& path, std::string_view what) {
  return Error::at({path.string()}, fmt::format("{} that tfaot did not make is in the way", what))
      .note(kAdvice);
}

// A version may be damaged, but must have part of a package.
Status check_version(const FileSystem& fs, const InstallPlan& plan) {
  TFAOT_ASSIGN(const auto names, fs.list(plan.destination));
  const bool is_ours = fs.kind(plan.destination / kManifestName) != FileKind::kMissing ||
                       fs.kind(plan.destination / installed_tool_file(plan.manifest.tool_name)) !=
                           FileKind::kMissing;
  if (names.empty() || is_ours) return {};
  return fail(not_ours(plan.destination, "a folder"));
}

// AREA/TOOL may hold versions, or nothing.
Status check_folder(const FileSystem& fs, const InstallPlan& plan) {
  const Path folder = plan.destination.parent_path();
  if (fs.kind(folder) == FileKind::kMissing) return {};
  if (fs.kind(plan.destination) == FileKind::kDirectory) return check_version(fs, plan);
  if (fs.kind(plan.destination) != FileKind::kMissing) return {};  // plan_install() reports it
  TFAOT_ASSIGN(const auto names, fs.list(folder));
  if (names.empty() || is_tool_folder(fs, folder)) return {};
  return fail(not_ours(folder, "a folder"));
}

// scram and find_package() use names in lower case.
Status check_other_case(const FileSystem& fs, const InstallPlan& plan) {
  const std::string& tool_name = plan.manifest.tool_name;
  const Path& area = plan.options.area;
  if (fs.kind(area) == FileKind::kMissing) return {};
  TFAOT_ASSIGN(const auto names, fs.list(area));
  for (const std::string& name : names) {
    if (name == tool_name || lower_case(name) != lower_case(tool_name)) continue;
    if (!is_tool_folder(fs, area / name)) continue;
    return fail(Error::at({(area / name).string()},
                          fmt::format("a tool '{}' is installed, and '{}' is the same name in "
                                      "lower case, the form that scram uses",
                                      name, tool_name))
                    .note("give the package another tool name (--tool-name of 'tfaot compile')"));
  }
  return {};
}

Status check_link(const FileSystem& fs, const Path& link, const Path& target) {
  const FileKind kind = fs.kind(link);
  if (kind == FileKind::kMissing) return {};
  const auto there = fs.read_symlink(link);
  // `current` may lead to any version.
  if (there && (link.filename() == kCurrentName || *there == target)) return {};
  return fail(not_ours(link, kind == FileKind::kDirectory ? "a folder"
                             : kind == FileKind::kSymlink ? "a link"
                                                          : "a file"));
}

Status check_toolbox_file(const FileSystem& fs, const InstallPlan& plan, const Path& file) {
  const ToolboxEntry entry = read_toolbox_entry(fs, plan.options.area, file);
  if (entry.maker != ToolboxEntry::Maker::kOther) return {};
  return fail(not_ours(file, "a tool file"));
}

Status check_nothing_in_the_way(const FileSystem& fs, const InstallPlan& plan) {
  const InstallOptions& options = plan.options;
  const AreaWords words = area_words(options, plan.manifest.tool_name, plan.manifest.version);
  TFAOT_TRY(check_folder(fs, plan));
  TFAOT_TRY(check_other_case(fs, plan));
  TFAOT_TRY(check_link(fs, options.area / in_area(kAreaCurrent.path, words), {}));
  if (!options.make_current) return {};
  for (const AreaRow& row : kAreaLayout) {
    const Path place = options.area / in_area(row.path, words);
    if (row.kind == AreaKind::kLink) TFAOT_TRY(check_link(fs, place, in_area(row.target, words)));
    if (row.kind == AreaKind::kToolFile) TFAOT_TRY(check_toolbox_file(fs, plan, place));
  }
  return check_toolbox_file(fs, plan, runtime_tool_file(options));
}

// The toolbox of a scram area. scram takes every folder of config/toolbox for an architecture and
// may use the last one that it lists (ConfigArea.py, _setAreaArch), so a new folder there, or one
// without tools/, makes every command of scram fail. Nothing here writes.

// The names NAME of which `folder`/NAME`rest` is a folder, sorted.
std::vector<std::string> folders_in(const FileSystem& fs, const Path& folder,
                                    const std::string& rest = "") {
  auto names = fs.list(folder).value_or(std::vector<std::string>());
  std::erase_if(names, [&](const std::string& name) {
    return !is_area_name(name) || !is_folder(fs, folder / (name + rest));
  });
  std::ranges::sort(names);
  return names;
}

// A scram area above whose toolbox `area` is, or is in.
Status check_not_in_toolbox(const FileSystem& fs, const Path& area) {
  for (Path folder = area; folder.has_relative_path(); folder = folder.parent_path()) {
    const Path config = folder.parent_path();
    if (folder.filename() != "toolbox" || config.filename() != "config") continue;
    if (!is_scram_area(fs, config.parent_path())) continue;
    return fail(Error::at({area.string()},
                          "scram would take what is installed here for an "
                          "architecture, and no command of it would work")
                    .note("install into " + config.parent_path().string()));
  }
  return {};
}

Error no_such_arch(const InstallOptions& options, const std::vector<std::string>& archs) {
  const Path toolbox = toolbox_folder(options.area, "");
  if (options.scram_arch.empty()) {
    return Error::at({options.area.string()},
                     "in this scram area the tool file needs an architecture")
        .note(archs.empty() ? "no folder of " + toolbox.string() + " holds tools"
                            : "the area has " + join(archs, ", "))
        .note("name it with --scram-arch");
  }
  return Error::at({options.area.string()},
                   fmt::format("this scram area has no architecture '{}'", options.scram_arch))
      .note("it has " + join(archs, ", "))
      .note("'scram project' adds one; an unknown folder in " + toolbox.string() +
            " would stop every command of scram");
}

// The SCRAM_ARCH below which an install puts its tool files; empty: config/toolbox/tools. In a
// scram area it is an existing one. Error: the area leaves a choice, or has no such architecture.
Result<std::string> find_scram_arch(const FileSystem& fs, const InstallOptions& options) {
  TFAOT_TRY(check_not_in_toolbox(fs, options.area));
  const std::string& wanted = options.scram_arch;
  if (!is_scram_area(fs, options.area)) return wanted;
  const Path toolbox = toolbox_folder(options.area, "");
  if (is_folder(fs, toolbox / "tools")) {
    return fail(Error::at({(toolbox / "tools").string()},
                          "scram takes this folder for an architecture, so no command of it works")
                    .note("remove it, then install again: the tool files go to "
                          "config/toolbox/SCRAM_ARCH/tools"));
  }
  auto archs = folders_in(fs, toolbox, "/tools");
  if (archs.empty()) archs = folders_in(fs, options.area / ".SCRAM");
  if (archs.empty() && !wanted.empty()) return wanted;
  const std::string& variable = options.scram_arch_variable;
  const std::string& said = wanted.empty() ? variable : wanted;
  if (contains(archs, said)) return said;
  if (wanted.empty() && archs.size() == 1) return archs.front();
  if (wanted.empty() && archs.empty() && !variable.empty()) return variable;
  return fail(no_such_arch(options, archs));
}

Status check_name(const std::string& what, const std::string& name, bool allowed) {
  if (allowed) return {};
  return fail(
      Error(fmt::format("{} '{}' cannot name a folder of a release area", what, shown(name)))
          .note("use letters, digits, '.', '_', '+' and '-', and begin with a letter or digit")
          .note("'lib' and 'config' as a tool and 'current' as a version are reserved"));
}

// The newest toolkit's runtime serves all models of an area, so a package must not claim to come
// from a toolkit that does not exist.
Status check_toolkit(const Manifest& manifest, const InstallOptions& options) {
  if (options.toolkit.empty() ||
      ::strverscmp(manifest.toolkit_version.c_str(), options.toolkit.c_str()) <= 0) {
    return {};
  }
  return fail(
      Error(fmt::format("the package was made by tfaot {}, which is newer than this tfaot {}",
                        manifest.toolkit_version, options.toolkit))
          .note("install it with that tfaot, or a newer one"));
}

Status check_options(const Manifest& manifest, const InstallOptions& options) {
  if (!options.area.is_absolute()) {
    return fail(Error::usage(
        fmt::format("the release area '{}' is not an absolute path", options.area.string())));
  }
  TFAOT_TRY(check_name("the tool", manifest.tool_name, is_tool_folder_name(manifest.tool_name)));
  TFAOT_TRY(check_name("the version", manifest.version,
                       is_area_name(manifest.version) && manifest.version != kCurrentName));
  TFAOT_TRY(check_name("the SCRAM_ARCH", options.scram_arch,
                       options.scram_arch.empty() || is_area_name(options.scram_arch)));
  return check_toolkit(manifest, options);
}

// True if all files are as the package has them, in folders of the tree's own. A link would lead
// writers out of the area.
bool is_whole(const FileSystem& fs, const Path& root, const Manifest& manifest) {
  const std::string runtime(kRuntimeToolName);
  for (const Path& installed :
       {installed_tool_file(manifest.tool_name), installed_tool_file(runtime)}) {
    if (!check_own_folders(fs, root, root / installed)) return false;
  }
  if (fs.kind(root / kManifestName) != FileKind::kFile) return false;
  for (const ManifestFile& listed : manifest.files) {
    if (!check_own_folders(fs, root, root / listed.path)) return false;
    const Path path = root / listed.path;
    if (fs.kind(path) != FileKind::kFile) return false;
    const auto sha256 = sha256_of_file(fs, path);
    if (!sha256 || *sha256 != listed.sha256) return false;
  }
  return true;
}

// Paths of files that differ, or that only one of the packages has.
std::set<std::string> differing_files(const Manifest& one, const Manifest& other) {
  const auto hashes_of = [](const Manifest& manifest) {
    std::set<std::pair<std::string, std::string>> hashes;
    for (const ManifestFile& file : manifest.files) hashes.emplace(file.path, file.sha256);
    return hashes;
  };
  std::vector<std::pair<std::string, std::string>> files;
  std::ranges::set_symmetric_difference(hashes_of(one), hashes_of(other),
                                        std::back_inserter(files));
  std::set<std::string> paths;
  for (const auto& [path, hash] : files) paths.insert(path);
  return paths;
}

// "5 of 47 files: lib/a.o, lib/b.o, model.h, ..."
std::string list_of(const std::set<std::string>& paths, std::size_t all) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string> names(paths.begin(), paths.end());
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  return fmt::format("{} of {} files: {}", paths.size(), all, join(names, ", "));
}

// "source model, batch sizes, 1 of 47 files: lib/a.o"
std::string differences(const Manifest& installed, const Manifest& wanted) {
  std::vector<std::string> words;
  const auto add = [&words](bool differs, const char* word) {
    if (differs) words.push_back(word);
  };
  add(installed.architecture != wanted.architecture, "architecture");
  add(installed.source_sha256 != wanted.source_sha256, "source model");
  add(installed.batch_sizes != wanted.batch_sizes, "batch sizes");
  add(installed.cpu_levels != wanted.cpu_levels, "CPU levels");
  add(installed.weights.storage != wanted.weights.storage, "storage of the weights");
  add(installed.compute != wanted.compute, "compute");
  add(installed.optimize != wanted.optimize, "optimize");
  add(installed.engine != wanted.engine, "engine");
  add(installed.toolkit_version != wanted.toolkit_version, "tfaot version");
  const auto files = differing_files(installed, wanted);
  if (!files.empty()) words.push_back(list_of(files, wanted.files.size()));
  add(words.empty(), "only manifest.json");
  return join(words, ", ");
}

Error other_contents(const Path& destination, const std::string& reason) {
  return Error::at({destination.string()}, "this version is already installed with other contents")
      .note(reason)
      .note("give the new package another version, or replace the installed one (--replace)");
}

}  // namespace

bool is_scram_area(const FileSystem& fs, const Path& folder) {
  return is_folder(fs, folder / ".SCRAM") || is_file(fs, folder / "config" / "scram_version");
}

Result<InstallPlan> plan_install(const FileSystem& fs, const Manifest& manifest,
                                 const InstallOptions& options) {
  TFAOT_TRY(check_options(manifest, options));
  InstallOptions found = options;
  if (options.make_current) {
    TFAOT_ASSIGN(found.scram_arch, find_scram_arch(fs, options));
  }
  const AreaWords words = area_words(found, manifest.tool_name, manifest.version);
  InstallPlan plan{
      .options = found,
      .manifest = manifest,
      .staging = private_folder(options.area) /
                 fmt::format("{}{}-{}", kStagingPrefix, manifest.tool_name, manifest.version),
      .destination = options.area / in_area(kAreaTree.path, words),
      .tool_file = options.area / in_area(kAreaToolboxFile.path, words)};
  TFAOT_TRY(check_inside_area(fs, options.area, plan.staging));
  for (const AreaRow& row : kAreaLayout) {
    TFAOT_TRY(check_inside_area(fs, options.area, options.area / in_area(row.path, words)));
  }
  TFAOT_TRY(check_nothing_in_the_way(fs, plan));
  TFAOT_ASSIGN(const FileKind kind, fs.look(plan.destination));
  if (kind == FileKind::kMissing) return plan;
  if (kind != FileKind::kDirectory) {
    return fail(Error::at({plan.destination.string()},
                          "not a folder, so this version cannot be installed there")
                    .note("move it away, then install again"));
  }

  const Path manifest_file = plan.destination / kManifestName;
  const auto installed = read_manifest(fs, manifest_file);
  if (installed && manifest_to_json(*installed) == manifest_to_json(manifest)) {
    // A damaged tree of the same package is always installed again.
    plan.already_installed = is_whole(fs, plan.destination, manifest);
    return plan;
  }
  if (options.replace) return plan;
  return fail(other_contents(plan.destination,
                             installed ? "they differ in: " + differences(*installed, manifest)
                                       : "the folder holds no package that can be read"));
}

Result<InstallPlan> plan_use(const FileSystem& fs, const InstallOptions& options,
                             const std::string& tool_name, const std::string& version) {
  const Path tree = options.area / tool_name / version;
  TFAOT_TRY(check_installed(fs, options.area, tool_name, version));
  TFAOT_ASSIGN(const Manifest manifest, read_manifest(fs, tree / kManifestName));
  TFAOT_ASSIGN(InstallPlan plan, plan_install(fs, manifest, options));
  if (plan.destination == tree && plan.already_installed) return plan;
  return fail(Error::at({tree.string()}, "the installed package is damaged")
                  .note("'tfaot verify' says where; install it again"));
}

}  // namespace tfaot::toolkit
