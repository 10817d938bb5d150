// SPDX-License-Identifier: Apache-2.0
// The manifest's `tuning` <-> JSON. Pure functions.
#pragma once

#include <tuple>

#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<TunedCall> =
    std::tuple{Member{"batch_size", &TunedCall::batch_size},
               Member{"cpu_level", &TunedCall::cpu_level},
               Member{"ns", &TunedCall::ns},
               Member{"low", &TunedCall::low},
               Member{"high", &TunedCall::high},
               Member{"repeats", &TunedCall::repeats},
               Member{"live_permille", &TunedCall::live_permille}};
template <>
inline constexpr auto kMembers<Tuning> =
    std::tuple{Member{"cpu", &Tuning::cpu}, Member{"calls", &Tuning::calls}};

Result<Tuning> read_tuning(const JsonReader& json);
// Refuses costs for code that the package does not hold, and duplicates. `json` is the manifest.
Status check_tuning(const JsonReader& json, const Manifest& manifest);

}  // namespace tfaot::toolkit
