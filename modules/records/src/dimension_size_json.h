// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>

#include "tfaot/records/model_spec.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<DimensionSize> =
    std::tuple{Member{"name", &DimensionSize::name}, Member{"size", &DimensionSize::size}};

}  // namespace tfaot::toolkit
