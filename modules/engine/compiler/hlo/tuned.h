// SPDX-License-Identifier: Apache-2.0
// The tuned numbers of hlo/tuned.def. `tfaot-engine --tuned NAME=NUMBER` changes one, for
// tests/benchmark/choices.py.
#pragma once

#include <cstdint>
#include <string_view>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct Tuned {
#define TFAOT_TUNED(name, value, unit, commit, choice) std::int64_t name = value;
#include "compiler/hlo/tuned.def"
};

inline constexpr const char* kTunedOption = "--tuned";

// The numbers of this process.
const Tuned& tuned();
// "gelu_fewest_elements=8", before the passes run. Error: names all of them.
Status set_tuned(std::string_view assignment);

}  // namespace tfaot::toolkit::engine
