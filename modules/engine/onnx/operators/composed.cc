// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/composed.h"

#include <fmt/format.h>

namespace tfaot::toolkit::engine {
Composed::Composed(Node& node, std::int64_t opset)
    : node_(node),
      opsets_{{"", opset}},
      scope_(node.scope(), opsets_, node.builder(), &node.scope()) {}

std::string Composed::operand(int index) {
  return node_.has(index) ? value(node_.operand(index)) : "";
}

std::string Composed::value(xla::XlaOp op) {
  std::string name = fmt::format("{}/value_{}", node_.proto().name(), ++made_);
  scope_.set(name, op);
  return name;
}

std::string Composed::add(const std::string& operation, const std::vector<std::string>& inputs,
                          bool with_attributes) {
  onnx::NodeProto proto;
  if (with_attributes) *proto.mutable_attribute() = node_.proto().attribute();
  proto.set_op_type(operation);
  for (const std::string& input : inputs) proto.add_input(input);
  return lower(std::move(proto));
}

std::string Composed::add(const std::string& operation, const std::vector<std::string>& inputs,
                          const std::string& attribute, const std::vector<std::int64_t>& integers) {
  onnx::NodeProto proto;
  proto.set_op_type(operation);
  for (const std::string& input : inputs) proto.add_input(input);
  onnx::AttributeProto& added = *proto.add_attribute();
  added.set_name(attribute);
  added.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t integer : integers) added.add_ints(integer);
  return lower(std::move(proto));
}

std::string Composed::lower(onnx::NodeProto proto) {
  std::string name = fmt::format("{}/value_{}", node_.proto().name(), ++made_);
  proto.set_name(node_.proto().name());
  const bool has_three = proto.op_type() == "LSTM" || proto.op_type() == "DynamicQuantizeLinear";
  onnx::GraphProto graph;
  for (int i = 0; i < (has_three ? 3 : 1); ++i) {
    proto.add_output(result(name, i));
    graph.add_output()->set_name(result(name, i));
  }
  *graph.add_node() = std::move(proto);
  scope_.lower(graph);
  return name;
}

std::string Composed::result(const std::string& first, int index) const {
  return index == 0 ? first : fmt::format("{}:{}", first, index);
}

xla::XlaOp Composed::op(const std::string& name) const {
  const auto found = scope_.find(name);
  if (!found) node_.refuse(fmt::format("has no value '{}'", name));
  return *found;
}

}  // namespace tfaot::toolkit::engine
