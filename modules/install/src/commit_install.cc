// SPDX-License-Identifier: Apache-2.0
// The steps of a commit, each one rename:
//   1. staging -> AREA/TOOL/VERSION, or both exchanged when a tree is there (then that one is
//   removed)
//   2. the CMake link and the tool file's link; both lead through `current`, so a first install's
//   lead nowhere yet
//   3. the runtime's tool file, which models of this and older toolkits use
//   4. `current`: from here on the new version is what users get, all of it
#include <string.h>  // strverscmp, which <cstring> does not promise

#include "area_layout.h"
#include "tfaot/generate/manifest_json.h"

namespace tfaot {
namespace {

// Made aside in .tfaot, where the next install tidies up, as a kill may come between making and
// moving.
Status put_link(FileSystem& fs, const Path& area, const Path& target, const Path& link) {
  if (const auto old = fs.read_symlink(link); old && *old == target) return {};
  const Path aside = private_folder(area) / (std::string(kStagingPrefix) + "link");
  TFAOT_TRY(fs.replace_symlink(target, aside));
  TFAOT_TRY(fs.create_directories(link.parent_path()));
  return fs.rename(aside, link);
}

// What users get up to now, if that will be another version: empty when it is none.
std::optional<std::string> replaced_version(const FileSystem& fs, const InstallPlan& plan) {
  if (!plan.options.make_current) return std::nullopt;
  const auto now = fs.read_symlink(area_links(plan.options, plan.manifest.tool_name).current);
  if (now && *now == plan.manifest.version) return std::nullopt;
  return now ? now->string() : "";
}

// make, ninja, CMake and scram look at times alone: files that users get from now on, instead of
// another version's, are of now.
Status renew_times(FileSystem& fs, const Path& folder) {
  TFAOT_ASSIGN(const auto files, list_files_recursively(fs, folder));
  for (const std::string& file : files) TFAOT_TRY(fs.mark_used(folder / file));
  return {};
}

Status renew_tool_file(FileSystem& fs, const InstallPlan& plan, const std::string& name,
                       const std::string& text) {
  const Path installed = plan.destination / installed_tool_file(name);
  if (const auto old = fs.read(installed); old && *old == text) return {};
  const Path aside =
      private_folder(plan.options.area) / (std::string(kStagingPrefix) + "tool-file");
  TFAOT_TRY(fs.replace_atomically(aside, text));
  TFAOT_TRY(fs.create_directories(installed.parent_path()));
  return fs.rename(aside, installed);
}

Status put_tree(FileSystem& fs, const InstallPlan& plan, const ToolFileTexts& tool_files) {
  const std::string runtime(kRuntimeToolName);
  if (plan.already_installed) {
    TFAOT_TRY(renew_tool_file(fs, plan, plan.manifest.tool_name, tool_files.model));
    return tool_files.runtime.empty() ? Status()
                                      : renew_tool_file(fs, plan, runtime, tool_files.runtime);
  }
  if (fs.kind(plan.staging / kManifestName) != FileKind::kFile) {
    return fail(Error::internal("nothing was unpacked into " + plan.staging.string()));
  }
  TFAOT_TRY(fs.replace_atomically(plan.staging / installed_tool_file(plan.manifest.tool_name),
                                  tool_files.model));
  if (!tool_files.runtime.empty()) {
    TFAOT_TRY(
        fs.replace_atomically(plan.staging / installed_tool_file(runtime), tool_files.runtime));
  }
  if (fs.kind(plan.destination) == FileKind::kMissing) {
    TFAOT_TRY(fs.create_directories(plan.destination.parent_path()));
    return fs.rename(plan.staging, plan.destination);
  }
  if (auto exchanged = fs.exchange(plan.staging, plan.destination); !exchanged) {
    return fail(
        std::move(exchanged).error().note("some disks (NFS) cannot replace a folder in one step: "
                                          "give the new package another version"));
  }
  // Done; what stays behind here is removed by the next install.
  static_cast<void>(fs.remove_all(plan.staging));
  return {};
}

// Of the package that the runtime's link leads into; empty when there is none, or none that works.
std::string linked_toolkit(const FileSystem& fs, const Path& link) {
  const auto target = fs.read_symlink(link);
  if (!target) return "";
  const Path file = (link.parent_path() / *target).lexically_normal();
  const Path manifest_file =
      file.parent_path().parent_path().parent_path() / kManifestName;  // past etc/scram.d
  if (fs.kind(file) != FileKind::kFile) return "";
  const auto text = fs.read(manifest_file);
  if (!text) return "";
  const auto manifest = manifest_from_json(*text, manifest_file.string());
  return manifest ? manifest->toolkit_version : "";
}

Status put_runtime_link(FileSystem& fs, const InstallPlan& plan, const Path& link) {
  const std::string toolkit = linked_toolkit(fs, link);
  if (!toolkit.empty() &&
      ::strverscmp(toolkit.c_str(), plan.manifest.toolkit_version.c_str()) >= 0) {
    return {};
  }
  const Path file = plan.destination / installed_tool_file(std::string(kRuntimeToolName));
  return put_link(fs, plan.options.area, file.lexically_relative(link.parent_path()), link);
}

}  // namespace

Result<InstallReceipt> commit_install(FileSystem& fs, const InstallPlan& plan,
                                      const ToolFileTexts& tool_files) {
  const std::string& tool_name = plan.manifest.tool_name;
  const Path& area = plan.options.area;
  InstallReceipt receipt{.destination = plan.destination,
                         .tool_file = plan.destination / installed_tool_file(tool_name),
                         .tool_name = tool_name,
                         .version = plan.manifest.version,
                         .replaced_version = replaced_version(fs, plan),
                         .unchanged = plan.already_installed};
  TFAOT_TRY(put_tree(fs, plan, tool_files));
  if (receipt.unchanged && receipt.replaced_version) TFAOT_TRY(renew_times(fs, plan.destination));
  if (!plan.options.make_current) return receipt;

  const AreaLinks links = area_links(plan.options, tool_name);
  const Path through_cmake = links.current / "lib" / "cmake" / tool_name;
  const Path through_tool_file = links.current / installed_tool_file(tool_name);
  TFAOT_TRY(
      put_link(fs, area, through_cmake.lexically_relative(links.cmake.parent_path()), links.cmake));
  TFAOT_TRY(put_link(fs, area, through_tool_file.lexically_relative(links.tool_file.parent_path()),
                     links.tool_file));
  if (!tool_files.runtime.empty()) {
    TFAOT_TRY(put_runtime_link(fs, plan, links.runtime_tool_file));
  }
  TFAOT_TRY(put_link(fs, area, plan.manifest.version, links.current));
  receipt.tool_file = links.tool_file;
  return receipt;
}

Status roll_back(FileSystem& fs, const InstallPlan& plan) { return fs.remove_all(plan.staging); }

Status remove_leftovers(FileSystem& fs, const Path& area) {
  if (fs.kind(private_folder(area)) == FileKind::kMissing) return {};
  TFAOT_ASSIGN(const auto names, fs.list(private_folder(area)));
  for (const std::string& name : names) {
    if (name != "lock") TFAOT_TRY(fs.remove_all(private_folder(area) / name));
  }
  return {};
}

}  // namespace tfaot
