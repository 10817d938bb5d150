// SPDX-License-Identifier: Apache-2.0
// One node of an ONNX graph while it is lowered: its operands, attributes and results. Operators
// are functions that take a Node (operators.h). A wrong node, and all that cannot be compiled, ends
// in a Refusal that names the node; refuse() makes one. Used by one thread.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/hlo/hlo.h"
#include "onnx-ml.pb.h"
#include "tfaot/base/result.h"
#include "xla/client/xla_builder.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

class OnnxScope;

// Thrown by functions that lower operators. They are many and small, so here, and only here, an
// expected failure is an exception: Lowering::lower() turns it into an Error.
class Refusal : public std::exception {
 public:
  explicit Refusal(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

template <typename T>
T or_refuse(Result<T> result) {
  if (!result) throw Refusal(std::move(result).error());
  return *std::move(result);
}

// Computes a value of constants; nothing if it depends on parameters, or if more than
// kMostKnownElements would have to be computed.
Result<std::optional<xla::Literal>> known_value(xla::XlaOp op);
// Computes a whole computation. REQUIRES: it has no parameters.
Result<xla::Literal> value_of_constants(const xla::XlaComputation& computation);

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
  // The node's name, or its first result's.
  const std::string& name() const;
  // Refuses with XLA's message if XLA failed.
  template <typename T>
  T made(absl::StatusOr<T> value) const {
    if (!value.ok()) refuse("cannot be compiled: " + std::string(value.status().message()));
    return *std::move(value);
  }

  // Operands. Optional ones can be left out, also in the middle.
  int operand_count() const { return proto_.input_size(); }
  bool has(int operand) const;
  xla::XlaOp operand(int index) const;  // refuses a node that leaves it out
  // An invalid value for one that is left out.
  xla::XlaOp operand_if_given(int index) const {
    return has(index) ? operand(index) : xla::XlaOp();
  }
  std::vector<xla::XlaOp> operands() const;
  xla::Shape shape(int operand) const { return shape_of_op(this->operand(operand)); }
  // For any value, also in the computations of loops.
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
  // Lists are empty if the attribute is missing.
  std::vector<std::int64_t> integers(const std::string& name) const;
  std::vector<float> reals(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  std::optional<std::vector<std::int64_t>> optional_integers(const std::string& name) const;
  std::optional<xla::Literal> tensor(const std::string& name) const;
  const onnx::GraphProto& graph(const std::string& name) const;
  bool flag(const std::string& name, bool otherwise = false) const {
    return integer(name, otherwise ? 1 : 0) != 0;
  }
  // One of these words, of which the first is the default.
  std::string word(const std::string& name, std::initializer_list<const char*> words) const;
  // The same as the place of the word.
  template <typename Enum>
  Enum choice(const std::string& name, std::initializer_list<const char*> words) const {
    return static_cast<Enum>(place_of_word(name, words));
  }
  // ONNX's number of an element type. `does`: "casts to", for types that XLA does not have.
  xla::PrimitiveType type_of_number(std::int64_t number, const std::string& does) const;
  [[noreturn]] void refuse_type(std::int64_t number, const std::string& does) const;
  // From 0 on; negative ones count from the end.
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;
  std::vector<std::int64_t> axes(std::vector<std::int64_t> axes, std::int64_t rank) const;
  // The attribute 'axes'; all if it is not there.
  std::vector<std::int64_t> axes_attribute(std::int64_t rank) const;

  // Results. Trailing ones, and optional ones, may not be wanted.
  int result_count() const { return proto_.output_size(); }
  bool wants(int result) const;
  void set(int result, xla::XlaOp op);
  void set(xla::XlaOp op) { set(0, op); }
  const std::vector<xla::XlaOp>& results() const { return results_; }
  // The result cannot be made. That is an error only if something reads it.
  void leave_out(int result, const std::string& why);

  // Makes a value computed from attributes a weight of the model. `what`: "trees".
  xla::XlaOp keep(const std::string& what, const xla::Literal& value);

  // Graphs inside of the node, for If, Loop and Scan.
  OnnxScope& scope() const { return scope_; }
  const onnx::NodeProto& proto() const { return proto_; }

 private:
  Error error(const std::string& why) const;
  int place_of_word(const std::string& name, std::initializer_list<const char*> words) const;
  const onnx::AttributeProto* find(const std::string& name) const;
  const onnx::AttributeProto* find(const std::string& name,
                                   onnx::AttributeProto::AttributeType type) const;

  const onnx::NodeProto& proto_;
  std::int64_t opset_;
  OnnxScope& scope_;
  std::vector<xla::XlaOp> results_;
};

// The node's name, or that of its first result.
const std::string& name_of_node(const onnx::NodeProto& node);
// "node 'x' (operator Conv, opset 17)"
std::string describe_node(const onnx::NodeProto& node, std::int64_t opset);

}  // namespace tfaot::toolkit::engine
