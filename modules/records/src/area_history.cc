// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/area_history.h"

#include <fmt/format.h>

#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/records/json_text.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<AreaEvent> =
    std::array{member<&AreaEvent::time>("time"),
               member<&AreaEvent::user>("user"),
               member<&AreaEvent::host>("host"),
               member<&AreaEvent::action>("action"),
               member<&AreaEvent::tool_name>("tool_name"),
               member<&AreaEvent::version>("version"),
               member<&AreaEvent::is_present>("is_present"),
               member<&AreaEvent::current_before>("current_before"),
               member<&AreaEvent::current>("current"),
               member_unless_default<&AreaEvent::archive>("archive"),
               member_unless_default<&AreaEvent::archive_sha256>("archive_sha256"),
               member_unless_default<&AreaEvent::signed_by>("signed_by")};

namespace {

constexpr std::string_view kHash = ",\"sha256\":\"";
constexpr std::string_view kLineEnd = "\"}\n";

// The hash at the end of a history; empty if it has no lines.
std::string last_hash(const std::string& history) {
  const std::size_t at = history.rfind(kHash);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + kHash.size();
  return history.substr(begin, history.find('"', begin) - begin);
}

// `line`: without its hash and its end.
std::string with_hash(const std::string& line, const std::string& before) {
  return fmt::format("{}{}{}{}", line, kHash, sha256_of(before + line), kLineEnd);
}

}  // namespace

nlohmann::ordered_json event_to_json(const AreaEvent& event) { return json_of(event); }

void append_event(std::string& history, const AreaEvent& event) {
  std::string line = json_to_text(event_to_json(event));
  line.pop_back();  // the brace
  history += with_hash(line, last_hash(history));
}

Status check_history_hashes(const std::string& text, const std::string& file) {
  std::string before;
  std::size_t number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    const std::string whole = with_hash(line.substr(0, line.rfind(kHash)), before);
    if (line + "\n" != whole) {
      return fail(Error::at({fmt::format("{}:{}", file, number)},
                            "the line, or one before it, was changed or removed"));
    }
    before = last_hash(whole);
  }
  return {};
}

Result<std::vector<AreaEvent>> parse_history(const std::string& text, const std::string& file) {
  std::vector<AreaEvent> events;
  for (const std::string& line : split_lines(text.substr(0, text.rfind('\n') + 1))) {
    const std::string place = fmt::format("{}:{}", file, events.size() + 1);
    TFAOT_ASSIGN(AreaEvent event,
                 read_document<AreaEvent>(line, {place, "not a line of an area's history"}));
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace tfaot::toolkit
