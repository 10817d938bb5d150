// SPDX-License-Identifier: Apache-2.0
// Tf2xlaConfig <-> JSON. Both ends are of one build. Header-only, for the engine; to_json() and
// from_json() throw.
#pragma once

#include <nlohmann/json.hpp>

#include "tfaot/compile/tf2xla_types.h"

namespace tfaot::toolkit {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tf2xlaFeed, tensor, name, dtype, shape)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tf2xlaFetch, tensor, name)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tf2xlaConfig, feeds, fetches, variables)

}  // namespace tfaot::toolkit
