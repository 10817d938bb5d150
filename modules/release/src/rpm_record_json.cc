// SPDX-License-Identifier: Apache-2.0
#include "tfaot/release/rpm_record_json.h"

#include <nlohmann/json.hpp>

namespace tfaot::toolkit {
namespace {

constexpr int kSchemaVersion = 1;

}  // namespace

std::string rpm_record_to_json(const RpmRecord& record) {
  const nlohmann::ordered_json json = {{"schema_version", kSchemaVersion},
                                       {"tool_name", record.tool_name},
                                       {"version", record.version},
                                       {"release", record.release},
                                       {"rpm", record.rpm},
                                       {"rpm_sha256", record.rpm_sha256},
                                       {"inputs",
                                        {{"source_sha256", record.inputs.source_sha256},
                                         {"spec_sha256", record.inputs.spec_sha256},
                                         {"toolkit_sha256", record.inputs.toolkit_sha256},
                                         {"toolkit_version", record.inputs.toolkit_version}}}};
  return json.dump(2) + "\n";
}

std::optional<RpmRecord> rpm_record_from_json(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("schema_version") != kSchemaVersion) return std::nullopt;
    const auto& inputs = json.at("inputs");
    return RpmRecord{.tool_name = json.at("tool_name"),
                     .version = json.at("version"),
                     .release = json.at("release"),
                     .rpm = json.at("rpm"),
                     .rpm_sha256 = json.at("rpm_sha256"),
                     .inputs = {.source_sha256 = inputs.at("source_sha256"),
                                .spec_sha256 = inputs.at("spec_sha256"),
                                .toolkit_sha256 = inputs.at("toolkit_sha256"),
                                .toolkit_version = inputs.at("toolkit_version")}};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace tfaot::toolkit
