// SPDX-License-Identifier: Apache-2.0
// The JSON Schema (draft 7) that says what the table of keys says, as far as JSON Schema can.
#pragma once

#include <nlohmann/json.hpp>

namespace tfaot::toolkit::testing {

nlohmann::ordered_json schema_from_table();

}  // namespace tfaot::toolkit::testing
