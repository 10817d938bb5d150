// SPDX-License-Identifier: Apache-2.0
// The ONNX operators that can be lowered: one table, put together from the families in operators/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

struct OnnxOperator {
  std::string name;  // "Conv"
  // The first version that is lowered; later ones are up to the function, which asks
  // Node::opset().
  std::int64_t since = 1;
  void (*lower)(Node& node) = nullptr;  // sets all results that are wanted
  // Operands whose value must be known while compiling.
  std::vector<int> known = {};
  std::string domain = {};  // "" is ONNX's own
  // Operands that say what it does, such as bounds. An initializer of one number there is part of
  // the code and no weight, so that XLA and the kernels know it.
  std::vector<int> settings = {};
  // Operands that make better code if they are known while compiling: indices, conditions.
  std::vector<int> better_known = {};
};

// Null: there is none.
const OnnxOperator* find_operator(const std::string& domain, const std::string& name);

// Sorted by domain and name.
const std::vector<OnnxOperator>& all_operators();

// Calls the operator's function. Throws a Refusal; also for operators that are not in the table.
void lower_operator(const std::string& domain, const std::string& name, Node& node);

}  // namespace tfaot::toolkit::engine
