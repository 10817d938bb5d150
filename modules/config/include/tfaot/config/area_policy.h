// SPDX-License-Identifier: Apache-2.0
// AREA/.tfaot/policy.yaml: which archives may be installed into a release area. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct AreaPolicy {
  bool require_signature = false;
  std::vector<std::string> keys;  // public keys of minisign, as text
};

// `file` names it in errors. Error: not YAML, an unknown key, a value of another kind, or no keys
// though signatures are required.
Result<AreaPolicy> parse_area_policy(const std::string& text, const std::string& file);

}  // namespace tfaot::toolkit
