// SPDX-License-Identifier: Apache-2.0
// Parts of a ModelSection, as records hold them. Pure functions.
#pragma once

#include <tuple>

#include "tfaot/records/model_spec.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<DimensionSize> =
    std::tuple{Member{"name", &DimensionSize::name}, Member{"size", &DimensionSize::size}};
template <>
inline constexpr auto kMembers<ModelConstant> =
    std::tuple{Member{"name", &ModelConstant::name}, Member{"shape", &ModelConstant::shape},
               Member{"values", &ModelConstant::values}};

}  // namespace tfaot::toolkit
