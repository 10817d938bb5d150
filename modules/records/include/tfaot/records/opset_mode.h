// SPDX-License-Identifier: Apache-2.0
// The words of the config's model.opset.
#pragma once

#include <array>

#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// Versions of ONNX's operators that are accepted.
enum class OpsetMode {
  kKnown,  // those that this tfaot knows
  kAny,    // newer ones too, read as the newest that it knows
};
template <>
inline constexpr auto kWords<OpsetMode> =
    std::to_array<Word<OpsetMode>>({{OpsetMode::kKnown, "known"}, {OpsetMode::kAny, "any"}});

}  // namespace tfaot::toolkit
