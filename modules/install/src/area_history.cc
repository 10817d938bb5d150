// SPDX-License-Identifier: Apache-2.0
#include "area_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "area_layout.h"
#include "tfaot/base/limits.h"

namespace tfaot::toolkit {
namespace {

// The versions of a tool, and the one that users get.
struct ToolState {
  std::set<std::string> versions{};
  std::string current{};
};
using AreaState = std::map<std::string, ToolState>;

AreaState state_after(const std::vector<AreaEvent>& events) {
  AreaState state;
  for (const AreaEvent& event : events) {
    ToolState& tool = state[event.tool_name];
    tool.current = event.current;
    if (event.is_present) {
      tool.versions.insert(event.version);
    } else {
      tool.versions.erase(event.version);
    }
  }
  return state;
}

Result<AreaState> state_of_disk(const FileSystem& fs, const Path& area) {
  AreaState state;
  TFAOT_ASSIGN(const FileKind kind, fs.look(area));
  if (kind == FileKind::kMissing) return state;
  TFAOT_ASSIGN(const auto tools, list_tools(fs, area));
  for (const std::string& tool : tools) {
    const Path folder = area / tool;
    TFAOT_ASSIGN(const auto versions, list_versions(fs, folder));
    state[tool] = {{versions.begin(), versions.end()}, named_current(fs, folder)};
  }
  return state;
}

// The lines that lead from what the history says of a tool to what is there.
void add_found(const AreaActor& finder, const std::string& tool_name, const ToolState& before,
               const ToolState& now, std::vector<AreaEvent>& found) {
  std::set<std::string> changed;
  std::ranges::set_symmetric_difference(before.versions, now.versions,
                                        std::inserter(changed, changed.end()));
  if (before.current != now.current) {
    changed.insert(now.current.empty() ? before.current : now.current);
  }
  std::string current_before = before.current;
  for (const std::string& version : changed) {
    AreaEvent event = event_by(finder, tool_name, version);
    event.is_present = now.versions.contains(version);
    event.current_before = std::exchange(current_before, now.current);
    event.current = now.current;
    found.push_back(std::move(event));
  }
}

Result<std::string> history_text(const FileSystem& fs, const Path& file) {
  TFAOT_ASSIGN(const FileKind kind, fs.look(file));
  if (kind == FileKind::kMissing) return std::string();
  TFAOT_ASSIGN(std::string text, read_limited(fs, file, kHistoryLimit));
  text.resize(text.rfind('\n') + 1);  // without a line that a crash cut
  return text;
}

Result<std::vector<AreaEvent>> parse_text(const std::string& text, const Path& file) {
  auto events = parse_history(text, file.string());
  if (events) return events;
  return fail(std::move(events).error().note("move the file away: a new history begins then"));
}

Result<std::vector<AreaEvent>> unrecorded(const FileSystem& fs, const Path& area,
                                          const std::vector<AreaEvent>& history,
                                          const std::string& now) {
  const AreaActor finder{.time = now, .action = AreaAction::kFound};
  const AreaState before = state_after(history);
  TFAOT_ASSIGN(AreaState disk, state_of_disk(fs, area));
  for (const auto& [tool, state] : before) disk.try_emplace(tool);
  std::vector<AreaEvent> found;
  for (const auto& [tool, state] : disk) {
    const auto known = before.find(tool);
    add_found(finder, tool, known == before.end() ? ToolState() : known->second, state, found);
  }
  return found;
}

}  // namespace

AreaEvent event_by(const AreaActor& actor, const std::string& tool_name,
                   const std::string& version) {
  return {.time = actor.time,
          .user = actor.user,
          .host = actor.host,
          .action = actor.action,
          .tool_name = tool_name,
          .version = version};
}

Status put_history(const FileSystem& fs, const Path& area, const std::vector<AreaEvent>& events,
                   const AreaActor& actor, StagedUpdate& update) {
  const Path file = private_folder(area) / kHistoryName;
  TFAOT_ASSIGN(std::string text, history_text(fs, file));
  TFAOT_ASSIGN(const auto recorded, parse_text(text, file));
  TFAOT_ASSIGN(const auto found, unrecorded(fs, area, recorded, actor.time));
  if (found.empty() && events.empty()) return {};
  for (const AreaEvent& event : found) append_event(text, event);
  for (const AreaEvent& event : events) append_event(text, event);
  return update.renew_file(text, file);
}

Status record_found(FileSystem& fs, const Path& area, const AreaActor& actor) {
  StagedUpdate update(fs, private_folder(area) / fmt::format("{}update", kStagingPrefix));
  TFAOT_TRY(put_history(fs, area, {}, actor, update));
  return update.commit();
}

Result<std::vector<AreaEvent>> read_history(const FileSystem& fs, const Path& area,
                                            const std::string& now) {
  const Path file = private_folder(area) / kHistoryName;
  TFAOT_ASSIGN(const std::string text, history_text(fs, file));
  TFAOT_ASSIGN(std::vector<AreaEvent> events, parse_text(text, file));
  TFAOT_ASSIGN(auto found, unrecorded(fs, area, events, now));
  std::ranges::move(found, std::back_inserter(events));
  return events;
}

std::optional<std::string> version_before(const std::vector<AreaEvent>& history,
                                          const std::string& tool_name) {
  const AreaState state = state_after(history);
  const auto tool = state.find(tool_name);
  if (tool == state.end()) return std::nullopt;
  // The versions in the order in which users got them; the last one is the current one.
  std::string wanted = tool->second.current;
  for (auto event = history.rbegin(); event != history.rend(); ++event) {
    if (event->tool_name != tool_name || event->current != wanted ||
        event->current_before == wanted) {
      continue;
    }
    wanted = event->current_before;
    const bool is_other = wanted != tool->second.current;
    if (is_other && tool->second.versions.contains(wanted)) return wanted;
  }
  return std::nullopt;
}

}  // namespace tfaot::toolkit
