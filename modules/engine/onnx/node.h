// SPDX-License-Identifier: Apache-2.0
// One node of an ONNX graph while it is lowered: its operands, attributes and results. Operators
// are functions that take a Node (operators.h). A wrong node, and all that cannot be compiled, ends
// in a Refusal that names the node; refuse() makes one. Used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hlo/hlo.h"
#include "onnx-ml.pb.h"
#include "tfaot/base/result.h"
#include "xla/client/xla_builder.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

class OnnxScope;

class Node {
 public:
  // `opset`: the version of the node's domain. The references must outlive the node.
  Node(const onnx::NodeProto& proto, std::int64_t opset, OnnxScope& scope)
      : proto_(proto),
        opset_(opset),
        scope_(scope),
        results_(static_cast<std::size_t>(proto.output_size())) {}

  std::int64_t opset() const { return opset_; }
  xla::XlaBuilder& builder() const;
  [[noreturn]] void refuse(const std::string& why) const;

  // Operands. Optional ones can be left out, also in the middle.
  int operand_count() const { return proto_.input_size(); }
  bool has(int operand) const;
  xla::XlaOp operand(int index) const;  // refuses a node that leaves it out
  std::vector<xla::XlaOp> operands() const;
  xla::Shape shape(int operand) const { return shape_of_op(this->operand(operand)); }
  // Of any value, also in the computations of loops.
  xla::Shape shape_of_op(xla::XlaOp op) const;
  Dimensions sizes(int operand) const { return sizes_of(this->operand(operand)); }
  Dimensions sizes_of(xla::XlaOp op) const;
  std::int64_t rank(int operand) const;
  xla::PrimitiveType type(int operand) const { return type_of(this->operand(operand)); }
  xla::PrimitiveType type_of(xla::XlaOp op) const;

  // Operands that must be known while compiling, such as a shape. These refuse others.
  xla::Literal known(int operand) const;
  std::vector<std::int64_t> known_integers(int operand) const;
  std::vector<double> known_reals(int operand) const;
  std::int64_t known_integer(int operand) const;  // one number
  double known_real(int operand) const;
  Dimensions known_sizes(int operand) const;  // of a tensor that can be
  // Nothing if the operand depends on the model's inputs.
  std::optional<std::vector<std::int64_t>> integers_if_known(int operand) const;

  // Refuses sizes that no tensor can have: negative ones, more elements than kMostTensorElements.
  // XLA ends the process for some of them.
  void check_sizes(const Dimensions& sizes) const;
  // Refuses to make so many elements while compiling. `most`: of base/limits.h.
  void check_made(std::int64_t elements, std::int64_t most) const;

  // Attributes. Without a default they must be there.
  bool has_attribute(const std::string& name) const { return find(name) != nullptr; }
  std::int64_t integer(const std::string& name) const;
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
  float real(const std::string& name, float otherwise) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(const std::string& name) const;
  std::vector<float> reals(const std::string& name) const;        // empty if it is not there
  std::vector<std::string> texts(const std::string& name) const;  // the same
  std::optional<xla::Literal> tensor(const std::string& name) const;
  const onnx::GraphProto& graph(const std::string& name) const;
  // From 0 on; negative ones count from the end.
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;
  std::vector<std::int64_t> axes(std::vector<std::int64_t> axes, std::int64_t rank) const;

  // Results. Trailing ones, and optional ones, may not be wanted.
  int result_count() const { return proto_.output_size(); }
  bool wants(int result) const;
  void set(int result, xla::XlaOp op);
  void set(xla::XlaOp op) { set(0, op); }
  const std::vector<xla::XlaOp>& results() const { return results_; }
  // The result cannot be made. That is an error only if something reads it.
  void leave_out(int result, const std::string& why);

  // A value that the operator made of its attributes, as a weight of the model. `what`: "trees".
  xla::XlaOp keep(const std::string& what, const xla::Literal& value);

  // Graphs inside of the node, for If, Loop and Scan.
  OnnxScope& scope() const { return scope_; }
  const onnx::NodeProto& proto() const { return proto_; }

 private:
  Error error(const std::string& why) const;
  const onnx::AttributeProto* find(const std::string& name) const;
  const onnx::AttributeProto* find(const std::string& name,
                                   onnx::AttributeProto::AttributeType type) const;

  const onnx::NodeProto& proto_;
  std::int64_t opset_;
  OnnxScope& scope_;
  std::vector<xla::XlaOp> results_;
};

// "node 'x' (operator Conv, opset 17)"
std::string describe_node(const onnx::NodeProto& node, std::int64_t opset);

}  // namespace tfaot::toolkit::engine
