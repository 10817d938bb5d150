// SPDX-License-Identifier: Apache-2.0
// Which inputs of a program are masks, indices, or numbers with paddings: a guess by the operations
// that see the input's own numbers, so that random inputs can be like real ones. Pure function.
#pragma once

#include <string>
#include <vector>

#include "tfaot/records/hlo_graph.h"
#include "tfaot/records/input_use.h"

namespace tfaot::toolkit {

// Of the first parameters of the program, which are its inputs and have these names. The graph is
// one without calls of kernels, as the stage "simplified".
std::vector<InputUse> input_uses(const HloGraph& graph, const std::vector<std::string>& names);

}  // namespace tfaot::toolkit
