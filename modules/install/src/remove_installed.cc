// SPDX-License-Identifier: Apache-2.0
// A removal renames in the reverse order of an install: first what users look through, then the
// trees. All of it goes into the work folder, which is removed after that.
#include <fmt/format.h>
#include <string.h>  // strverscmp, which <cstring> does not promise

#include <utility>

#include "area_history.h"
#include "area_layout.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

bool is_removed(const RemovalPlan& plan, const std::string& tool_name, const std::string& version) {
  return plan.tool_name == tool_name && contains(plan.versions, version);
}

// The links and tool files by which users find the tool.
std::vector<Path> found_by(const FileSystem& fs, const RemovalPlan& plan) {
  std::vector<Path> places;
  for (const Path& file : tool_files_in(fs, plan.area, plan.tool_name)) {
    const ToolboxEntry entry = read_toolbox_entry(fs, plan.area, file);
    if (entry.tool_name == plan.tool_name) places.push_back(file);
  }
  const AreaWords words{.tool = plan.tool_name};
  for (const AreaRow& row : kAreaLayout) {
    const Path link = plan.area / in_area(row.path, words);
    if (row.kind == AreaKind::kLink && fs.kind(link) == FileKind::kSymlink) places.push_back(link);
  }
  return places;
}

struct PackagedRuntime {
  std::string toolkit{};  // empty: none
  std::string text{};
};

// The newest runtime's tool file among the packages that stay, and whether any package stays.
Result<std::pair<bool, PackagedRuntime>> newest_runtime(const FileSystem& fs,
                                                        const RemovalPlan& plan) {
  TFAOT_ASSIGN(const InstalledList list, list_installed(fs, plan.area));
  bool stays = false;
  PackagedRuntime newest;
  for (const InstalledModel& model : list.models) {
    if (is_removed(plan, model.tool_name, model.version)) continue;
    stays = true;
    const auto text = fs.read(plan.area / model.tool_name / model.version /
                              installed_tool_file(std::string(kRuntimeToolName)));
    const std::string& toolkit = model.manifest.toolkit_version;
    if (text && ::strverscmp(newest.toolkit.c_str(), toolkit.c_str()) < 0) {
      newest = {toolkit, *text};
    }
  }
  return std::pair(stays, std::move(newest));
}

Status plan_runtime(const FileSystem& fs, RemovalPlan& plan) {
  for (const Path& file : tool_files_in(fs, plan.area, std::string(kRuntimeToolName))) {
    const ToolboxEntry entry = read_toolbox_entry(fs, plan.area, file);
    if (is_removed(plan, entry.tool_name, entry.version)) plan.runtime_tool_files.push_back(file);
  }
  if (plan.runtime_tool_files.empty()) return {};
  TFAOT_ASSIGN(auto found, newest_runtime(fs, plan));
  auto& [stays, newest] = found;
  if (!stays) return {};
  if (newest.toolkit.empty()) {
    return fail(Error::at({plan.runtime_tool_files.front().string()},
                          fmt::format("the other models of the area use the runtime of {} {}",
                                      plan.tool_name, join(plan.versions, ", ")))
                    .note("install a package that a newer tfaot made, then remove this one"));
  }
  plan.runtime_text = std::move(newest.text);
  return {};
}

Error is_current(const RemovalPlan& plan) {
  return Error::at({(plan.area / plan.tool_name / plan.current).string()},
                   "users get this version, and others are installed")
      .note(fmt::format("choose another first: tfaot use {} VERSION", plan.tool_name))
      .note(fmt::format("or remove all versions: tfaot remove {}", plan.tool_name));
}

}  // namespace

Result<RemovalPlan> plan_removal(const FileSystem& fs, const Path& area,
                                 const std::string& tool_name, const std::string& version) {
  TFAOT_TRY(check_installed(fs, area, tool_name, version));
  TFAOT_ASSIGN(auto versions, list_versions(fs, area / tool_name));
  RemovalPlan plan{.area = area,
                   .tool_name = tool_name,
                   .versions = versions,
                   .current = named_current(fs, area / tool_name)};
  if (!version.empty()) plan.versions = {version};
  if (plan.versions.size() == versions.size()) {
    plan.links_and_tool_files = found_by(fs, plan);
  } else if (version == plan.current) {
    return fail(is_current(plan));
  }
  TFAOT_TRY(plan_runtime(fs, plan));
  return plan;
}

Status commit_removal(FileSystem& fs, const RemovalPlan& plan, const AreaActor& actor) {
  StagedUpdate update(fs, private_folder(plan.area) / fmt::format("{}update", kStagingPrefix));
  for (const Path& file : plan.runtime_tool_files) {
    TFAOT_TRY(plan.runtime_text ? update.renew_file(*plan.runtime_text, file)
                                : update.take_out(file));
  }
  for (const Path& place : plan.links_and_tool_files) TFAOT_TRY(update.take_out(place));
  std::vector<AreaEvent> events;
  for (const std::string& version : plan.versions) {
    AreaEvent event = event_by(actor, plan.tool_name, version);
    event.is_present = false;
    event.current_before = plan.current;
    event.current = plan.links_and_tool_files.empty() ? plan.current : "";
    events.push_back(std::move(event));
  }
  // Before the trees: a removal that was killed can then be given again.
  TFAOT_TRY(put_history(fs, plan.area, events, actor, update));
  for (const std::string& version : plan.versions) {
    TFAOT_TRY(update.take_out(plan.area / plan.tool_name / version));
  }
  TFAOT_TRY(update.commit());
  // Only if nothing else is in it.
  const Path folder = plan.area / plan.tool_name;
  const auto names = fs.list(folder);
  if (names && names->empty()) static_cast<void>(fs.remove_all(folder));
  return {};
}

}  // namespace tfaot::toolkit
