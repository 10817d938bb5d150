// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/rpm_record_json.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<ReleaseInputs> =
    std::tuple{Member{"source_sha256", &ReleaseInputs::source_sha256},
               Member{"spec_sha256", &ReleaseInputs::spec_sha256},
               Member{"toolkit_sha256", &ReleaseInputs::toolkit_sha256},
               Member{"toolkit_version", &ReleaseInputs::toolkit_version}};
template <>
inline constexpr auto kMembers<RpmRecord> =
    std::tuple{Member{"tool_name", &RpmRecord::tool_name},   Member{"version", &RpmRecord::version},
               Member{"release", &RpmRecord::release},       Member{"rpm", &RpmRecord::rpm},
               Member{"rpm_sha256", &RpmRecord::rpm_sha256}, Member{"inputs", &RpmRecord::inputs}};

namespace {

constexpr const char* kVersionKey = "schema_version";
constexpr int kSchemaVersion = 1;

}  // namespace

std::string rpm_record_to_json(const RpmRecord& record) {
  nlohmann::ordered_json json = {{kVersionKey, kSchemaVersion}};
  json.update(json_of<nlohmann::ordered_json>(record));
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
