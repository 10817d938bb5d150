// SPDX-License-Identifier: Apache-2.0
// The ONNX operators that can be lowered: one table, combined from the files of operators/. To add
// an operator, write its function and its row in one of them.
#pragma once

#include "front/onnx/node.h"

namespace tfaot::toolkit::engine {

// Numbers of the operands that need special treatment.
struct OperandRoles {
  // The value must be known at compile time.
  std::vector<int> known = {};
  // Parameters such as bounds. An initializer of one number, or a list of whole ones, is part of
  // the code there instead of a weight, so that XLA and the kernels know it.
  std::vector<int> settings = {};
  // Indices and conditions: the code is better if their values are known at compile time.
  std::vector<int> better_known = {};
};

struct OnnxOperator {
  std::string name;  // "Conv"
  // The oldest opset that is lowered. The function tells newer ones apart by Node::opset().
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
// Sets the domain of the rows.
std::vector<OnnxOperator> in_domain(const std::string& domain, std::vector<OnnxOperator> rows);

// Null if there is none.
const OnnxOperator* find_operator(const std::string& domain, const std::string& name);

// Calls the operator's function. Throws a Refusal, also for unknown operators.
void lower_operator(const std::string& domain, const std::string& name, Node& node);

// The whole table for `tfaot check --ops`. Sorted by domain and name; without nodes.
std::vector<CheckedOperation> known_onnx_operators();

// Fails if an opset or the format's version is newer than the known ones, since operators and
// messages may have changed. Domains of which no operator is lowered may have any opset.
Status check_opsets(const onnx::ModelProto& model);

}  // namespace tfaot::toolkit::engine
