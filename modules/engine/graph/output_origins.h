// SPDX-License-Identifier: Apache-2.0
// Finds the nodes that compute a signature's outputs, whose names say more than "output_0". Pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "graph/signature_function.h"

namespace tfaot::toolkit::engine {

// By output: the name of the node, below calls and identities; empty if an input is handed on.
std::vector<std::string> output_origins(const SignatureFunction& function);

}  // namespace tfaot::toolkit::engine
