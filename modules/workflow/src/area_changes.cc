// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/area_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "area_actor.h"
#include "tfaot/base/text.h"
#include "tfaot/install/install.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

Status check_area(const Context& context, const Path& area) {
  if (is_release_area(context.files, area)) return {};
  return fail(Error::at({area.string()}, "not a release area")
                  .note("'tfaot install' makes one; name it with --release-area"));
}

// MODEL of AREA/MODEL, which may be the tool's name or the model's.
std::string tool_named(const FileSystem& files, const Path& area, const std::string& model) {
  return is_folder(files, area / model) ? model : default_tool_name(model);
}

// Held by whoever changes the area; nobody needs it to look.
Result<std::optional<AreaLock>> lock_unless(bool is_dry, const Context& context, const Path& area) {
  TFAOT_TRY(check_area(context, area));
  std::optional<AreaLock> lock;
  if (is_dry) return lock;
  TFAOT_ASSIGN(lock, AreaLock::acquire(area, tell_of_waiting(context.diagnostics, area)));
  return lock;
}

// REQUIRES: the area is locked, or nothing is changed.
Result<InstalledArchive> make_current(Context& context, const AreaRequest& request,
                                      const std::string& version, AreaAction action) {
  const Path& area = request.release_area;
  const InstallOptions options{.area = area,
                               .scram_arch = request.scram_arch,
                               .scram_arch_variable = context.environment.variable("SCRAM_ARCH"),
                               .toolkit = TFAOT_VERSION};
  const std::string tool_name = tool_named(context.files, area, request.model);
  TFAOT_ASSIGN(const InstallPlan plan, plan_use(context.files, options, tool_name, version));
  TFAOT_ASSIGN(const ToolFileTexts tool_files,
               tool_files_for(context.files, plan, plan.destination));
  InstallReceipt receipt = receipt_of(context.files, plan);
  if (!request.dry_run) {
    const AreaActor actor = actor_of(context.environment, action);
    TFAOT_ASSIGN(const auto receipts,
                 commit_installs(context.files, {{.plan = plan, .tool_files = tool_files}}, actor));
    receipt = receipts.front();
  }
  return InstalledArchive{receipt, scram_step(context.files, area, receipt)};
}

// When users stopped getting each version of the plan's model, or got to know it.
std::string unused_since(const std::vector<AreaEvent>& history, const InstalledModel& model) {
  std::string since;
  for (const AreaEvent& event : history) {
    const bool is_its_own = event.version == model.version || event.current_before == model.version;
    if (event.tool_name == model.tool_name && is_its_own) since = event.time;
  }
  return since;
}

}  // namespace

Result<InstalledArchive> use_version(Context& context, const AreaRequest& request) {
  TFAOT_ASSIGN(const auto lock, lock_unless(request.dry_run, context, request.release_area));
  return make_current(context, request, request.version, AreaAction::kUse);
}

Result<InstalledArchive> roll_back(Context& context, const AreaRequest& request) {
  const Path& area = request.release_area;
  TFAOT_ASSIGN(const auto lock, lock_unless(request.dry_run, context, area));
  const std::string tool_name = tool_named(context.files, area, request.model);
  TFAOT_ASSIGN(const auto history, read_history(context.files, area, time_now()));
  const auto before = version_before(history, tool_name);
  if (before) return make_current(context, request, *before, AreaAction::kRollback);
  return fail(Error::at({area.string()},
                        fmt::format("no installed version of '{}' was current before", tool_name))
                  .note("'tfaot list' shows the versions, 'tfaot use' makes one current"));
}

Result<RemovalPlan> remove_versions(Context& context, const AreaRequest& request) {
  const Path& area = request.release_area;
  TFAOT_ASSIGN(const auto lock, lock_unless(request.dry_run, context, area));
  const std::string tool_name = tool_named(context.files, area, request.model);
  TFAOT_ASSIGN(RemovalPlan plan, plan_removal(context.files, area, tool_name, request.version));
  if (request.dry_run) return plan;
  TFAOT_TRY(
      commit_removal(context.files, plan, actor_of(context.environment, AreaAction::kRemove)));
  return plan;
}

Result<std::vector<RemovalPlan>> collect_garbage(Context& context, const GarbageRequest& request) {
  const Path& area = request.release_area;
  TFAOT_ASSIGN(const auto lock, lock_unless(request.dry_run, context, area));  // removes leftovers
  TFAOT_ASSIGN(const auto history, read_history(context.files, area, time_now()));
  TFAOT_ASSIGN(const InstalledList list, list_installed(context.files, area));
  const std::string limit = time_before(std::chrono::days(request.days));
  const AreaActor actor = actor_of(context.environment, AreaAction::kGc);
  if (!request.dry_run) TFAOT_TRY(record_found(context.files, area, actor));
  std::vector<RemovalPlan> removed;
  for (const InstalledModel& model : list.models) {
    if (model.current || unused_since(history, model) > limit) continue;
    TFAOT_ASSIGN(RemovalPlan plan,
                 plan_removal(context.files, area, model.tool_name, model.version));
    if (!plan.links_and_tool_files.empty()) continue;  // the last version, though not current
    if (!request.dry_run) TFAOT_TRY(commit_removal(context.files, plan, actor));
    removed.push_back(std::move(plan));
  }
  return removed;
}

Result<std::vector<AreaEvent>> area_history(const Context& context, const Path& release_area,
                                            const std::string& model) {
  TFAOT_TRY(check_area(context, release_area));
  TFAOT_ASSIGN(auto history, read_history(context.files, release_area, time_now()));
  if (model.empty()) return history;
  const std::string tool_name = tool_named(context.files, release_area, model);
  std::erase_if(history, [&](const AreaEvent& event) {
    return event.tool_name != tool_name && event.tool_name != default_tool_name(model);
  });
  return history;
}

}  // namespace tfaot::toolkit
