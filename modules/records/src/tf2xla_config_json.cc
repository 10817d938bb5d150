// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/tf2xla_config_json.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<Tf2xlaFeed> =
    std::tuple{Member{"tensor", &Tf2xlaFeed::tensor}, Member{"name", &Tf2xlaFeed::name},
               Member{"dtype", &Tf2xlaFeed::dtype}, Member{"shape", &Tf2xlaFeed::shape}};
template <>
inline constexpr auto kMembers<Tf2xlaFetch> =
    std::tuple{Member{"tensor", &Tf2xlaFetch::tensor}, Member{"name", &Tf2xlaFetch::name}};
template <>
inline constexpr auto kMembers<Tf2xlaConfig> =
    std::tuple{Member{"feeds", &Tf2xlaConfig::feeds}, Member{"fetches", &Tf2xlaConfig::fetches},
               Member{"variables", &Tf2xlaConfig::variables}};

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
