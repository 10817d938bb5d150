// SPDX-License-Identifier: Apache-2.0
// How a model reads an input, as far as its operations show it. Random inputs are drawn by it.
#pragma once

#include "tfaot/records/words.h"

namespace tfaot::toolkit {

enum class InputRole {
  kNumbers,  // nothing is known
  kMask,     // 1 for what counts, 0 for the rest
  kPadded,   // numbers, then paddings: `value`
  kIndex,    // whole numbers from 0 to `value`
};
template <>
inline constexpr auto kWords<InputRole> =
    std::to_array<Word<InputRole>>({{InputRole::kNumbers, "numbers"},
                                    {InputRole::kMask, "mask"},
                                    {InputRole::kPadded, "padded"},
                                    {InputRole::kIndex, "index"}});

struct InputUse {
  InputRole role = InputRole::kNumbers;
  double value = 0;
};

}  // namespace tfaot::toolkit
