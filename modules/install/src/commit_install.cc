// SPDX-License-Identifier: Apache-2.0
// A commit renames the rows of the area's table, in their order. If a tree exists at its place,
// both are exchanged, and the old one is removed. The runtime's tool file, which models of this and
// older toolkits use, comes before the links.
#include <string.h>  // strverscmp, which <cstring> does not promise

#include <fmt/format.h>

#include "area_layout.h"
#include "tfaot/base/staged_update.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"
#include "tfaot/scram/tool_file.h"

namespace tfaot::toolkit {
namespace {

// The version that users get now, if the install will change it; empty if there is none.
std::optional<std::string> replaced_version(const FileSystem& fs, const InstallPlan& plan) {
  if (!plan.options.make_current) return std::nullopt;
  const auto now = fs.read_symlink(plan.destination.parent_path() / kCurrentName);
  if (now && *now == plan.manifest.version) return std::nullopt;
  return now ? now->string() : "";
}

// make, ninja, CMake and scram look only at times. So files that users now get instead of another
// version's files must have the current time.
Status renew_times(FileSystem& fs, const Path& folder) {
  TFAOT_ASSIGN(const auto files, list_files_recursively(fs, folder));
  for (const std::string& file : files) {
    if (fs.kind(folder / file) == FileKind::kSymlink) continue;  // a file elsewhere
    TFAOT_TRY(fs.mark_used(folder / file));
  }
  return {};
}

// scram sets up a tool under the name in its file, so a wrong name would replace another tool.
Status check_tool_name(const std::string& text, const std::string& tool_name) {
  TFAOT_ASSIGN(const ToolHeading heading, read_tool_heading(text));
  if (heading.name == lower_case(tool_name)) return {};
  return fail(Error(fmt::format("the package's tool file {} is of a tool '{}'",
                                toolbox_file_name(tool_name), heading.name))
                  .note("compile the model again with 'tfaot compile'"));
}

// The tree, and its tool files with the final base.
Status put_tree(FileSystem& fs, const InstallPlan& plan, const ToolFileTexts& tool_files,
                StagedUpdate& update) {
  const Path model = installed_tool_file(plan.manifest.tool_name);
  const Path runtime = installed_tool_file(std::string(kRuntimeToolName));
  if (plan.already_installed) {
    TFAOT_TRY(update.put_file(tool_files.model, plan.destination / model));
    return tool_files.runtime.empty()
               ? Status()
               : update.put_file(tool_files.runtime, plan.destination / runtime);
  }
  if (fs.kind(plan.staging / kManifestName) != FileKind::kFile) {
    return fail(Error::internal("nothing was unpacked into " + plan.staging.string()));
  }
  TFAOT_TRY(fs.replace_atomically(plan.staging / model, tool_files.model));
  if (!tool_files.runtime.empty()) {
    TFAOT_TRY(fs.replace_atomically(plan.staging / runtime, tool_files.runtime));
  }
  return update.put_folder(plan.staging, plan.destination,
                           "some disks (NFS) cannot replace a folder in one step: give the new "
                           "package another version");
}

// A tool file of the package. It is at its final place only once the update is committed.
struct PackagedToolFile {
  Path place;
  const std::string& text;
};

// Keeps a toolbox file that is already correct. But scram looks at its time: if the package is
// younger, the file is written again, so that users of a replaced version notice.
Status put_in_toolbox(const FileSystem& fs, const InstallPlan& plan,
                      const PackagedToolFile& packaged, const Path& file, StagedUpdate& update) {
  TFAOT_ASSIGN(const FileKind kind, fs.look(file));
  const auto installed = fs.read(packaged.place);
  const bool is_installed = plan.already_installed && installed && *installed == packaged.text;
  if (kind == FileKind::kFile && is_installed) {
    TFAOT_ASSIGN(const std::string old, fs.read(file));
    TFAOT_ASSIGN(const std::int64_t time, fs.last_used(file));
    TFAOT_ASSIGN(const std::int64_t package_time, fs.last_used(packaged.place));
    if (old == packaged.text && time >= package_time) return {};
  }
  return update.renew_file(packaged.text, file);
}

// All SCRAM_ARCHs share one `current`: other toolboxes that have a version of this tool get this
// one too.
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

// The toolbox keeps the tool file of the newest runtime: this package's, or the existing one.
Status put_runtime(const FileSystem& fs, const InstallPlan& plan, const std::string& text,
                   StagedUpdate& update) {
  const std::string runtime(kRuntimeToolName);
  const Path file = runtime_tool_file(plan.options);
  const auto there = fs.read(file);
  const ToolboxEntry entry = read_toolbox_entry(fs, plan.options.area, file);
  const bool is_of_this_package =
      entry.tool_name == plan.manifest.tool_name && entry.version == plan.manifest.version;
  const std::string toolkit = there ? toolkit_of_runtime(fs, file) : "";
  if (is_of_this_package || toolkit.empty() ||
      ::strverscmp(toolkit.c_str(), plan.manifest.toolkit_version.c_str()) < 0) {
    return put_in_toolbox(fs, plan, {plan.destination / installed_tool_file(runtime), text}, file,
                          update);
  }
  return update.put_file(*there, file);  // replaces a link of an earlier tfaot
}

// Makes the version the current one: everything except the tree.
Status make_current(const FileSystem& fs, const InstallPlan& plan, const ToolFileTexts& tool_files,
                    StagedUpdate& update) {
  const std::string& tool_name = plan.manifest.tool_name;
  const AreaWords words = area_words(plan.options, tool_name, plan.manifest.version);
  const Path model = plan.destination / installed_tool_file(tool_name);
  if (!tool_files.runtime.empty()) TFAOT_TRY(put_runtime(fs, plan, tool_files.runtime, update));
  for (const AreaRow& row : kAreaLayout) {
    if (row.kind == AreaKind::kLink) {
      TFAOT_TRY(update.put_link(in_area(row.target, words),
                                plan.options.area / in_area(row.path, words)));
    }
    if (row.kind != AreaKind::kToolFile) continue;
    for (const Path& file : tool_files_of(fs, plan)) {
      TFAOT_TRY(put_in_toolbox(fs, plan, {model, tool_files.model}, file, update));
    }
  }
  return {};
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
  StagedUpdate update(fs,
                      private_folder(plan.options.area) / fmt::format("{}update", kStagingPrefix));
  TFAOT_TRY(put_tree(fs, plan, tool_files, update));
  // Before the files of toolboxes, which must not be older.
  if (receipt.unchanged && receipt.replaced_version) TFAOT_TRY(renew_times(fs, plan.destination));
  if (plan.options.make_current) {
    TFAOT_TRY(make_current(fs, plan, tool_files, update));
    receipt.tool_file = plan.tool_file;
  }
  TFAOT_TRY(update.commit());
  // Done. If part of a replaced tree stays, the next install removes it.
  if (!plan.already_installed) static_cast<void>(fs.remove_all(plan.staging));
  return receipt;
}

Status roll_back(FileSystem& fs, const InstallPlan& plan) {
  return remove_leftovers(fs, plan.options.area);
}

Status remove_leftovers(FileSystem& fs, const Path& area) {
  TFAOT_ASSIGN(const FileKind kind, fs.look(private_folder(area)));
  if (kind == FileKind::kMissing) return {};
  TFAOT_ASSIGN(const auto names, fs.list(private_folder(area)));
  for (const std::string& name : names) {
    if (name != "lock") TFAOT_TRY(fs.remove_all(private_folder(area) / name));
  }
  return {};
}

}  // namespace tfaot::toolkit
