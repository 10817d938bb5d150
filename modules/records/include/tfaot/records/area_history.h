// SPDX-License-Identifier: Apache-2.0
// The history of a release area: AREA/.tfaot/history.jsonl, one JSON object a line, the oldest
// first. Lines are only ever added, and each holds a hash of all lines before it. Pure functions.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

inline constexpr const char* kHistoryName = "history.jsonl";
inline constexpr const char* kPolicyName = "policy.yaml";  // beside it; see config/area_policy.h

enum class AreaAction {
  kInstall,
  kUse,
  kRollback,
  kRemove,
  kGc,
  kFound,  // the area had changed without a line: an RPM, an older tfaot, a kill, by hand
};
template <>
inline constexpr auto kWords<AreaAction> =
    std::to_array<Word<AreaAction>>({{AreaAction::kInstall, "install"},
                                     {AreaAction::kUse, "use"},
                                     {AreaAction::kRollback, "rollback"},
                                     {AreaAction::kRemove, "remove"},
                                     {AreaAction::kGc, "gc"},
                                     {AreaAction::kFound, "found"}});

// One change of one version.
struct AreaEvent {
  std::string time{};  // UTC, "2026-11-28T09:46:47Z"
  std::string user{};
  std::string host{};
  AreaAction action = AreaAction::kInstall;
  std::string tool_name{};
  std::string version{};
  bool is_present = true;        // the area has the version now
  std::string current_before{};  // the version that users got; empty: none
  std::string current{};         // the version that users get now
  std::string archive{};         // the file name; empty: no archive
  std::string archive_sha256{};
  std::string signed_by{};  // the number of the key, if a signature was required
};

nlohmann::ordered_json event_to_json(const AreaEvent& event);
// Adds a line to a history's text. It ends with the SHA-256 of the line before and itself.
void append_event(std::string& history, const AreaEvent& event);
// Error if a line was changed, removed or put in later: hashes no longer fit.
Status check_history_hashes(const std::string& text, const std::string& file);
// `file` names the history in errors. A last line that was cut by a crash is left out.
Result<std::vector<AreaEvent>> parse_history(const std::string& text, const std::string& file);

}  // namespace tfaot::toolkit
