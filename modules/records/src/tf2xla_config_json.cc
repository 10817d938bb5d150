// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/tf2xla_config_json.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(Tf2xlaFeed, tensor, name, dtype, shape);
TFAOT_MEMBERS(Tf2xlaFetch, tensor, name);
TFAOT_MEMBERS(Tf2xlaConfig, feeds, fetches, variables);

namespace {

constexpr const char* kConfigKey = "config";

}  // namespace

std::string tf2xla_config_to_json(const Tf2xlaConfig& config) {
  return json_line({{kConfigKey, json_of(config)}});
}

std::optional<Tf2xlaConfig> tf2xla_config_from_json(const std::string& line) {
  const auto json = parse_json(line, "");
  if (!json) return std::nullopt;
  auto config = JsonReader(*json, "").member(kConfigKey).and_then(read_value<Tf2xlaConfig>);
  return config ? std::make_optional(*std::move(config)) : std::nullopt;
}

}  // namespace tfaot::toolkit
