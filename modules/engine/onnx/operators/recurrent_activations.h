// SPDX-License-Identifier: Apache-2.0
// Activations of recurrent operators, which their nodes name.
#pragma once

#include <string>
#include <vector>

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

struct GateActivation {
  std::string name;  // in small letters
  float alpha = 0;
  float beta = 0;
};

// Those of each direction, one after the other; `usual`: of one direction, if the node names none.
// The node's parameters are taken in order, by those activations that have some.
std::vector<GateActivation> gate_activations(const Node& node,
                                             const std::vector<std::string>& usual,
                                             std::int64_t directions);

xla::XlaOp activated(const GateActivation& activation, xla::XlaOp x);

}  // namespace tfaot::toolkit::engine
