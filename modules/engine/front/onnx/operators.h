// SPDX-License-Identifier: Apache-2.0
// The ONNX operators that can be lowered: one table, put together from the files of operators/. To
// add an operator, write its function and its row in one of them.
#pragma once

#include "front/onnx/node.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {

// Operands, by number, that are treated in a way of their own.
struct OperandRoles {
  // The value must be known while compiling.
  std::vector<int> known = {};
  // Says what the operator does, such as a bound. An initializer of one number there is part of the
  // code and no weight, so that XLA and the kernels know it.
  std::vector<int> settings = {};
  // Makes better code if it is known while compiling: indices, conditions.
  std::vector<int> better_known = {};
};

struct OnnxOperator {
  std::string name;  // "Conv"
  // The first version that is lowered; later ones are up to the function, which asks
  // Node::opset().
  std::int64_t since = 1;
  void (*lower)(Node& node) = nullptr;  // sets all results that are wanted
  OperandRoles operands = {};
  std::string domain = {};  // "" is ONNX's own
};

// The rows of each file of operators/; operators.cc lists them.
std::vector<OnnxOperator> elementwise_operators();
std::vector<OnnxOperator> image_operators();
std::vector<OnnxOperator> machine_learning_operators();  // domain ai.onnx.ml
std::vector<OnnxOperator> product_operators();
std::vector<OnnxOperator> quantized_operators();  // also of com.microsoft, qonnx.custom_op.general
std::vector<OnnxOperator> sequence_operators();
std::vector<OnnxOperator> shape_operators();
// The rows, all of this domain.
std::vector<OnnxOperator> in_domain(const std::string& domain, std::vector<OnnxOperator> rows);

// Null if there is none.
const OnnxOperator* find_operator(const std::string& domain, const std::string& name);

// Calls the operator's function. Throws a Refusal; also for operators that are not in the table.
void lower_operator(const std::string& domain, const std::string& name, Node& node);

// The whole table for `tfaot check --ops`. Sorted by domain and name; without nodes.
std::vector<CheckedOperation> known_onnx_operators();

// Fails if the model has a newer opset than is known, or a newer version of the format: what an
// operator means, and what a message holds, may have changed. Domains without an operator of ours
// may have any opset.
Status check_opsets(const onnx::ModelProto& model);

}  // namespace tfaot::toolkit::engine
