// SPDX-License-Identifier: Apache-2.0
// A commit renames the trees, then the rows of the area's table for each tool, in their order, then
// the history. If a tree exists at its place, both are exchanged, and the old one is removed. The
// runtime's tool file, which models of this and older toolkits use, comes before the links.
#include <string.h>  // strverscmp, which <cstring> does not promise

#include <fmt/format.h>

#include <algorithm>

#include "area_history.h"
#include "area_layout.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/staged_update.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/install/install.h"
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

// Into an installed version. Its hash comes last: a kill in between leaves a library that `tfaot
// verify` finds, and that the next install links again.
Status put_library(FileSystem& fs, const PreparedInstall& install, StagedUpdate& update) {
  if (install.library.empty()) return {};
  const std::string& name = install.plan.manifest.name;
  TFAOT_ASSIGN(const std::string hash, library_hash_text(fs, install.library, name));
  TFAOT_TRY(update.put_made(install.library, install.plan.destination / models_library_name(name)));
  return update.put_file(hash, install.plan.destination / library_hash_name(name));
}

// The tree, and its tool files with the final base.
Status put_tree(FileSystem& fs, const PreparedInstall& install, StagedUpdate& update) {
  const InstallPlan& plan = install.plan;
  const ToolFileTexts& tool_files = install.tool_files;
  const Path model = installed_tool_file(plan.manifest.tool_name);
  const Path runtime = installed_tool_file(std::string(kRuntimeToolName));
  if (plan.already_installed) {
    TFAOT_TRY(put_library(fs, install, update));
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

// The toolbox keeps the tool file of the newest runtime: that of a package, or the existing one.
Status put_runtime(const FileSystem& fs, const std::vector<PreparedInstall>& installs,
                   StagedUpdate& update) {
  const std::string runtime(kRuntimeToolName);
  const InstallOptions& options = installs.front().plan.options;
  const Path file = runtime_tool_file(options);
  const auto there = fs.read(file);
  const ToolboxEntry entry = read_toolbox_entry(fs, options.area, file);
  std::string toolkit = there ? toolkit_of_runtime(fs, file) : "";
  const PreparedInstall* newest = nullptr;
  bool has_runtime = false;
  for (const PreparedInstall& install : installs) {
    const Manifest& manifest = install.plan.manifest;
    if (!install.plan.options.make_current || install.tool_files.runtime.empty()) continue;
    has_runtime = true;
    const bool is_its_own =
        entry.tool_name == manifest.tool_name && entry.version == manifest.version;
    const int order = ::strverscmp(toolkit.c_str(), manifest.toolkit_version.c_str());
    // An equal one of another area, of which this one may be a copy, is not kept.
    const bool is_elsewhere = newest == nullptr && entry.tool_name.empty();
    if (is_its_own || toolkit.empty() || order < 0 || (order == 0 && is_elsewhere)) {
      newest = &install;
      toolkit = manifest.toolkit_version;
    }
  }
  if (newest != nullptr) {
    const Path place = newest->plan.destination / installed_tool_file(runtime);
    return put_in_toolbox(fs, newest->plan, {place, newest->tool_files.runtime}, file, update);
  }
  // Replaces a link of an earlier tfaot.
  return has_runtime ? update.put_file(*there, file) : Status();
}

// Makes the version the current one: everything except the tree and the runtime.
Status make_current(const FileSystem& fs, const InstallPlan& plan, const ToolFileTexts& tool_files,
                    StagedUpdate& update) {
  const std::string& tool_name = plan.manifest.tool_name;
  const AreaWords words = area_words(plan.options, tool_name, plan.manifest.version);
  const Path model = plan.destination / installed_tool_file(tool_name);
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

Status check_tool_names(const PreparedInstall& install) {
  TFAOT_TRY(check_tool_name(install.tool_files.model, install.plan.manifest.tool_name));
  if (install.tool_files.runtime.empty()) return {};
  return check_tool_name(install.tool_files.runtime, std::string(kRuntimeToolName));
}

std::optional<AreaEvent> event_of(const FileSystem& fs, const PreparedInstall& install,
                                  const InstallReceipt& receipt, const AreaActor& actor) {
  if (receipt.unchanged && !receipt.replaced_version) return std::nullopt;
  AreaEvent event = event_by(actor, receipt.tool_name, receipt.version);
  event.current_before = named_current(fs, install.plan.options.area / receipt.tool_name);
  event.current = install.plan.options.make_current ? receipt.version : event.current_before;
  event.archive = install.archive;
  event.archive_sha256 = install.archive_sha256;
  event.signed_by = install.signed_by;
  return event;
}

}  // namespace

InstallReceipt receipt_of(const FileSystem& fs, const InstallPlan& plan) {
  const std::string& tool_name = plan.manifest.tool_name;
  const bool is_current = plan.options.make_current;
  return {
      .destination = plan.destination,
      .tool_file = is_current ? plan.tool_file : plan.destination / installed_tool_file(tool_name),
      .tool_name = tool_name,
      .version = plan.manifest.version,
      .replaced_version = replaced_version(fs, plan),
      .unchanged = plan.already_installed};
}

Result<std::vector<InstallReceipt>> commit_installs(FileSystem& fs,
                                                    const std::vector<PreparedInstall>& installs,
                                                    const AreaActor& actor) {
  if (installs.empty()) return std::vector<InstallReceipt>();
  const Path& area = installs.front().plan.options.area;
  for (const PreparedInstall& install : installs) TFAOT_TRY(check_tool_names(install));
  StagedUpdate update(fs, private_folder(area) / fmt::format("{}update", kStagingPrefix));
  std::vector<InstallReceipt> receipts;
  std::vector<AreaEvent> events;
  for (const PreparedInstall& install : installs) {
    const InstallPlan& plan = install.plan;
    const InstallReceipt receipt = receipt_of(fs, plan);
    TFAOT_TRY(put_tree(fs, install, update));
    // Before the files of toolboxes, which must not be older.
    if (receipt.unchanged && receipt.replaced_version) TFAOT_TRY(renew_times(fs, plan.destination));
    if (auto event = event_of(fs, install, receipt, actor)) events.push_back(*std::move(event));
    receipts.push_back(receipt);
  }
  TFAOT_TRY(put_runtime(fs, installs, update));
  for (const PreparedInstall& install : installs) {
    if (!install.plan.options.make_current) continue;
    TFAOT_TRY(make_current(fs, install.plan, install.tool_files, update));
  }
  TFAOT_TRY(put_history(fs, area, events, actor, update));
  TFAOT_TRY(update.commit());
  // Done. If part of a replaced tree stays, the next install removes it.
  for (const PreparedInstall& install : installs) {
    const bool has_staging = !install.plan.already_installed || !install.library.empty();
    if (has_staging) static_cast<void>(fs.remove_all(install.plan.staging));
  }
  return receipts;
}

AreaMoment area_moment(const FileSystem& fs, const Path& area) {
  const Path folder = private_folder(area);
  const auto names = fs.list(folder).value_or(std::vector<std::string>());
  return {.is_changing = std::ranges::any_of(
              names, [](const std::string& name) { return name.starts_with(kStagingPrefix); }),
          .history = read_limited(fs, folder / kHistoryName, kHistoryLimit).value_or("")};
}

Status remove_leftovers(FileSystem& fs, const Path& area) {
  TFAOT_ASSIGN(const FileKind kind, fs.look(private_folder(area)));
  if (kind == FileKind::kMissing) return {};
  TFAOT_ASSIGN(const auto names, fs.list(private_folder(area)));
  for (const std::string& name : names) {
    if (name != "lock" && name != kHistoryName && name != kPolicyName)
      TFAOT_TRY(fs.remove_all(private_folder(area) / name));
  }
  return {};
}

}  // namespace tfaot::toolkit
