// SPDX-License-Identifier: Apache-2.0
// The steps of a commit, each one rename:
//   1. staging -> AREA/TOOL/VERSION, or both exchanged when a tree is there (then that one is
//   removed)
//   2. the CMake link, which leads through `current`, so a first install's leads nowhere yet
//   3. the runtime's tool file, which models of this and older toolkits use
//   4. `current`: from here on CMake's users get the new version
//   5. the model's tool file: from here on scram's users get it. Until then theirs is the version
//   before, whole, in a folder of its own
#include <string.h>  // strverscmp, which <cstring> does not promise

#include <fmt/format.h>

#include <utility>

#include "area_layout.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/generate/tool_file_xml.h"
#include "toolbox.h"

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
  const auto now = fs.read_symlink(area_entries(plan.options, plan.manifest.tool_name).current);
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

// scram sets a tool up under the name that its file says: it would replace that tool's.
Status check_tool_name(const std::string& text, const std::string& tool_name) {
  TFAOT_ASSIGN(const ToolHeading heading, read_tool_heading(text));
  if (heading.name == lower_case(tool_name)) return {};
  return fail(Error(fmt::format("the package's tool file {} is of a tool '{}'",
                                toolbox_file_name(tool_name), heading.name))
                  .note("compile the model again with 'tfaot compile'"));
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

// Files of toolboxes that become those of the plan's version: made aside, then renamed.
class ToolboxChange {
 public:
  explicit ToolboxChange(const Path& area) : area_(area) {}

  // Does nothing when the file is as it should be. scram looks at its time: where the package is
  // younger the file is written anew, so that users of a replaced version notice.
  Status prepare(FileSystem& fs, const Path& installed, const Path& file) {
    TFAOT_ASSIGN(const std::string text, fs.read(installed));
    if (fs.kind(file) == FileKind::kFile) {
      TFAOT_ASSIGN(const std::string old, fs.read(file));
      TFAOT_ASSIGN(const std::int64_t time, fs.last_used(file));
      TFAOT_ASSIGN(const std::int64_t package_time, fs.last_used(installed));
      if (old == text && time >= package_time) return {};
    }
    Path aside = private_folder(area_) /
                 fmt::format("{}{}-{}", kStagingPrefix, file.filename().string(), files_.size());
    TFAOT_TRY(fs.replace_atomically(aside, text));
    files_.emplace_back(std::move(aside), file);
    return {};
  }

  Status commit(FileSystem& fs) const {
    for (const auto& [aside, file] : files_) {
      TFAOT_TRY(fs.create_directories(file.parent_path()));
      TFAOT_TRY(fs.rename(aside, file));
    }
    return {};
  }

 private:
  Path area_;
  std::vector<std::pair<Path, Path>> files_;  // aside, its place
};

// `current` is one for all SCRAM_ARCHs: other toolboxes that have a version of this tool get this
// one as well.
std::vector<Path> tool_files_of(const FileSystem& fs, const InstallPlan& plan) {
  std::vector<Path> files = {plan.tool_file};
  for (const Path& file : tool_files_in(fs, plan.options.area, plan.manifest.tool_name)) {
    if (file == plan.tool_file) continue;
    const ToolboxEntry entry = read_toolbox_entry(fs, plan.options.area, file);
    const bool is_ours = entry.maker == ToolboxEntry::Maker::kTfaot;
    if (is_ours && entry.tool_name == plan.manifest.tool_name) files.push_back(file);
  }
  return files;
}

// The tool file of the newest runtime: this package's, or that of the toolbox.
Path newest_runtime(const FileSystem& fs, const InstallPlan& plan, const Path& in_toolbox) {
  Path own = plan.destination / installed_tool_file(std::string(kRuntimeToolName));
  const auto text = fs.read(in_toolbox);
  const auto own_text = fs.read(own);
  if (text && own_text && *text == *own_text) return own;
  const std::string toolkit = toolkit_of_runtime(fs, in_toolbox);
  const bool is_older =
      toolkit.empty() || ::strverscmp(toolkit.c_str(), plan.manifest.toolkit_version.c_str()) < 0;
  return is_older ? own : in_toolbox;
}

// Everything but the tree: what makes its version the current one.
Status make_current(FileSystem& fs, const InstallPlan& plan, const ToolFileTexts& tool_files) {
  const Path& area = plan.options.area;
  const std::string& tool_name = plan.manifest.tool_name;
  const AreaEntries entries = area_entries(plan.options, tool_name);
  const Path model = plan.destination / installed_tool_file(tool_name);
  // What needs room on the disk is done before users notice anything.
  ToolboxChange before_current(area);
  ToolboxChange after_current(area);
  if (!tool_files.runtime.empty()) {
    const Path& file = entries.runtime_tool_file;
    TFAOT_TRY(before_current.prepare(fs, newest_runtime(fs, plan, file), file));
  }
  for (const Path& file : tool_files_of(fs, plan)) {
    TFAOT_TRY(after_current.prepare(fs, model, file));
  }
  TFAOT_TRY(put_link(fs, area, cmake_link_target(tool_name), entries.cmake));
  TFAOT_TRY(before_current.commit(fs));
  TFAOT_TRY(put_link(fs, area, plan.manifest.version, entries.current));
  return after_current.commit(fs);
}

}  // namespace

Result<InstallReceipt> commit_install(FileSystem& fs, const InstallPlan& plan,
                                      const ToolFileTexts& tool_files) {
  const std::string& tool_name = plan.manifest.tool_name;
  InstallReceipt receipt{.destination = plan.destination,
                         .tool_file = plan.destination / installed_tool_file(tool_name),
                         .tool_name = tool_name,
                         .version = plan.manifest.version,
                         .replaced_version = replaced_version(fs, plan),
                         .unchanged = plan.already_installed};
  TFAOT_TRY(check_tool_name(tool_files.model, tool_name));
  if (!tool_files.runtime.empty()) {
    TFAOT_TRY(check_tool_name(tool_files.runtime, std::string(kRuntimeToolName)));
  }
  TFAOT_TRY(put_tree(fs, plan, tool_files));
  if (receipt.unchanged && receipt.replaced_version) TFAOT_TRY(renew_times(fs, plan.destination));
  if (!plan.options.make_current) return receipt;
  TFAOT_TRY(make_current(fs, plan, tool_files));
  receipt.tool_file = plan.tool_file;
  return receipt;
}

Status roll_back(FileSystem& fs, const InstallPlan& plan) {
  return remove_leftovers(fs, plan.options.area);
}

Status remove_leftovers(FileSystem& fs, const Path& area) {
  if (fs.kind(private_folder(area)) == FileKind::kMissing) return {};
  TFAOT_ASSIGN(const auto names, fs.list(private_folder(area)));
  for (const std::string& name : names) {
    if (name != "lock") TFAOT_TRY(fs.remove_all(private_folder(area) / name));
  }
  return {};
}

}  // namespace tfaot
