// SPDX-License-Identifier: Apache-2.0
// Lowers a node of another domain as a few nodes of ONNX's own operators. Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "onnx/node.h"
#include "onnx/onnx_scope.h"

namespace tfaot::toolkit::engine {

class Composed {
 public:
  // `node` must outlive the object. `opset`: the version of ONNX's own operators.
  explicit Composed(Node& node, std::int64_t opset = kOpset);

  // Names of values, for add(). An operand that is left out has none: "".
  std::string operand(int index);
  std::string value(xla::XlaOp op);

  // Adds a node and returns the name of its first result. `with_attributes`: it has the node's.
  std::string add(const std::string& operation, const std::vector<std::string>& inputs,
                  bool with_attributes = false);
  std::string add(const std::string& operation, const std::vector<std::string>& inputs,
                  const std::string& attribute, const std::vector<std::int64_t>& integers);
  // Further results of the node that made `first`.
  std::string result(const std::string& first, int index) const;
  xla::XlaOp op(const std::string& name) const;

 private:
  static constexpr std::int64_t kOpset = 12;  // the axes of Squeeze and Unsqueeze are attributes

  std::string lower(onnx::NodeProto proto);

  Node& node_;
  Opsets opsets_;
  OnnxScope scope_;
  int made_ = 0;
};

}  // namespace tfaot::toolkit::engine
