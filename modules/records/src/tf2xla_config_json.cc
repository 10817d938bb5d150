// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/tf2xla_config_json.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(Tf2xlaFeed, tensor, name, dtype, shape);
TFAOT_MEMBERS(Tf2xlaFetch, tensor, name);
TFAOT_MEMBERS(Tf2xlaConfig, feeds, fetches, variables);

std::string tf2xla_config_to_json(const Tf2xlaConfig& config) {
  return tagged_line("config", config);
}

std::optional<Tf2xlaConfig> tf2xla_config_from_json(const std::string& line) {
  return from_tagged_line<Tf2xlaConfig>("config", line);
}

}  // namespace tfaot::toolkit
