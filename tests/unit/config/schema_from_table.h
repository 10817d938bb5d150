// SPDX-License-Identifier: Apache-2.0
// The JSON Schema (draft 7) with the rules of the table of keys, as far as JSON Schema can express
// them.
#pragma once

#include <nlohmann/json.hpp>

namespace tfaot::toolkit::testing {

nlohmann::ordered_json schema_from_table();

}  // namespace tfaot::toolkit::testing
