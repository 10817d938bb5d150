// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/rpm_record.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(ReleaseInputs, source_sha256, spec_sha256, toolkit_sha256, toolkit_version);
TFAOT_MEMBERS(RpmRecord, tool_name, version, release, rpm, rpm_sha256, inputs);

namespace {

constexpr const char* kVersionKey = "schema_version";
constexpr int kSchemaVersion = 1;

}  // namespace

std::string rpm_record_to_json(const RpmRecord& record) {
  nlohmann::ordered_json json = {{kVersionKey, kSchemaVersion}};
  json.update(json_of(record));
  return json.dump(2) + "\n";
}

std::optional<RpmRecord> rpm_record_from_json(const std::string& text) {
  const auto json = parse_json(text, "");
  if (!json) return std::nullopt;
  const JsonReader reader(*json, "");
  const auto version = reader.member(kVersionKey).and_then(read_value<int>);
  if (!version || *version != kSchemaVersion) return std::nullopt;
  auto record = read_value<RpmRecord>(reader);
  return record ? std::make_optional(*std::move(record)) : std::nullopt;
}

}  // namespace tfaot::toolkit
