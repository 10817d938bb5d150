// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/engine_line.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kNotes = "notes";
constexpr const char* kFile = "file";
constexpr const char* kKey = "key";
constexpr const char* kLine = "line";

template <class Value>
Status read_optional(const JsonReader& json, const char* key, Value& value) {
  if (!json.has(key)) return {};
  TFAOT_ASSIGN(value, json.member(key).and_then(read_value<Value>));
  return {};
}

Result<EngineLine> read_line(const JsonReader& json, EngineWord word) {
  EngineLine line{.word = word, .text = ""};
  TFAOT_ASSIGN(line.text, json.member(word_of(word)).and_then(&JsonReader::text));
  if (word != EngineWord::kError) return line;
  TFAOT_TRY(read_optional(json, kNotes, line.notes));
  TFAOT_TRY(read_optional(json, kFile, line.file));
  TFAOT_TRY(read_optional(json, kKey, line.config_key));
  TFAOT_TRY(read_optional(json, kLine, line.line));
  return line;
}

}  // namespace

std::string engine_line_to_json(const EngineLine& line) {
  nlohmann::json json = {{word_of(line.word), line.text}};
  if (line.word == EngineWord::kError) {
    json[kNotes] = line.notes;
    json[kFile] = line.file;
    json[kKey] = line.config_key;
    json[kLine] = line.line;
  }
  return json_line(json);
}

std::optional<EngineLine> engine_line_from_json(const std::string& text) {
  const auto json = parse_json(text, "");
  if (!json) return std::nullopt;
  const JsonReader reader(*json, "");
  for (const auto& row : kWords<EngineWord>) {
    if (!reader.has(row.word)) continue;
    auto line = read_line(reader, row.value);
    return line ? std::make_optional(*std::move(line)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tfaot::toolkit
