// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/engine_line.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

// Of an error, besides its word and text.
template <>
inline constexpr auto kMembers<EngineLine> =
    std::array{new_member<&EngineLine::notes>("notes"), new_member<&EngineLine::file>("file"),
               new_member<&EngineLine::config_key>("key"), new_member<&EngineLine::line>("line")};

std::string engine_line_to_json(const EngineLine& line) {
  ordered_json json = ordered_json::object();
  if (line.word == EngineWord::kError) json = json_of(line);
  json[word_of(line.word)] = line.text;
  return json_line(json);
}

std::optional<EngineLine> engine_line_from_json(const std::string& text) {
  const auto json = parse_json(text, "");
  if (!json) return std::nullopt;
  const JsonReader reader(*json, "");
  for (const auto& [word, key] : kWords<EngineWord>) {
    if (!reader.has(key)) continue;
    const auto said = reader.member(key).and_then(&JsonReader::text);
    Result<EngineLine> line = EngineLine();
    if (word == EngineWord::kError) line = read_value<EngineLine>(reader);
    if (!said || !line) return std::nullopt;
    line->word = word;
    line->text = *said;
    return *std::move(line);
  }
  return std::nullopt;
}

}  // namespace tfaot::toolkit
