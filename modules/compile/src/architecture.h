// SPDX-License-Identifier: Apache-2.0
// How a model differs from the one that code was made from, in words for the user. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit {

// One line per difference, the most telling first; empty if the code fits the model too. Names of
// weights may differ. Of `model`, only what lowering produces matters: the signature, the weights,
// the HLO.
std::vector<std::string> architecture_differences(const CompiledModel& package,
                                                  const CompiledModel& model);

}  // namespace tfaot::toolkit
