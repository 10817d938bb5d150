// SPDX-License-Identifier: Apache-2.0
// An ONNX graph during lowering: its values by name, and its nodes one by one. A graph inside a
// node sees the names of the enclosing graphs. Used by one thread.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "compiler/hlo/hlo.h"
#include "onnx-ml.pb.h"
#include "tfaot/base/text.h"
#include "tfaot/records/model_check.h"
#include "xla/client/xla_builder.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

// The model that all scopes share.
struct OnnxModel {
  onnx::ModelProto proto;
  std::string file;                    // external data is next to it
  std::vector<onnx::NodeProto> calls;  // that its functions' nodes replaced
};

// The version of each domain's operators; "" is ONNX's own.
using Opsets = std::map<std::string, std::int64_t>;
// ONNX's own domain has two names: "ai.onnx" becomes "".
inline std::string plain_domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}
template <typename Imports>
Opsets opsets_of(const Imports& imports) {
  Opsets opsets;
  for (const auto& import : imports) opsets[plain_domain(import.domain())] = import.version();
  return opsets;
}

// The version of the node's domain; 0 if the model does not import it. A node that comes from a
// function of the model has its version as a metadata property.
constexpr const char* kOpsetProperty = "tfaot.opset";
std::int64_t opset_of(const onnx::NodeProto& node, const Opsets& opsets);

// Turns a value that an operator computed from its attributes into a weight of the model.
using WeightKeeper = std::function<xla::XlaOp(const std::string& name, const xla::Literal& value)>;

// Result of lowering a graph inside a node, for inputs of given shapes.
struct GraphOutcome {
  std::vector<xla::Shape> shapes;
  std::optional<bool> first;  // the first output, if it is a known boolean
};
// State that all scopes of one lowering share.
struct LoweringState {
  bool follows_sizes = false;                    // as LoweringOptions say
  std::int64_t nodes = 0;                        // that were lowered
  std::map<std::string, GraphOutcome> outcomes;  // by graph and inputs, in bytes
};

class OnnxScope {
 public:
  // The references must outlive the scope.
  OnnxScope(const OnnxModel& model, const Opsets& opsets, xla::XlaBuilder& builder)
      : model_(model),
        opsets_(opsets),
        builder_(builder),
        state_(std::make_shared<LoweringState>()) {}
  // For a graph inside `holder`. `around`: the enclosing graph whose names it sees; null: none.
  OnnxScope(const OnnxScope& holder, const Opsets& opsets, xla::XlaBuilder& builder,
            const OnnxScope* around)
      : model_(holder.model_),
        opsets_(opsets),
        builder_(builder),
        around_(around),
        state_(holder.state_) {}

  const OnnxModel& model() const { return model_; }
  const Opsets& opsets() const { return opsets_; }
  xla::XlaBuilder& builder() const { return builder_; }
  LoweringState& state() const { return *state_; }

  void set(const std::string& name, xla::XlaOp op) { values_[name] = op; }
  // Throws a Refusal if the value is missing.
  std::optional<xla::XlaOp> find(const std::string& name) const;
  // Records why a node cannot make the value; find() throws it.
  void set_missing(const std::string& name, Error why) {
    missing_.insert_or_assign(name, std::move(why));
  }

  // With a keeper, values that operators keep become weights; otherwise constants, as in
  // computations with their own builder, which see no parameters.
  void keep_by(WeightKeeper keeper) { keeper_ = std::move(keeper); }
  xla::XlaOp keep(const std::string& name, const xla::Literal& value) const;

  // Lowers the nodes in order. Initializers that have no value yet become constants. Throws a
  // Refusal.
  void lower(const onnx::GraphProto& graph);
  // The graph's outputs. REQUIRES: lower().
  std::vector<xla::XlaOp> outputs_of(const onnx::GraphProto& graph) const;

 private:
  void lower_node(const onnx::NodeProto& proto);

  const OnnxModel& model_;
  const Opsets& opsets_;
  xla::XlaBuilder& builder_;
  const OnnxScope* around_ = nullptr;
  std::shared_ptr<LoweringState> state_;
  std::map<std::string, xla::XlaOp> values_;
  std::map<std::string, Error> missing_;
  WeightKeeper keeper_;
};

// Calls `visit` for each node, and for the nodes of the graphs inside it.
template <typename Nodes, typename Visit>
void for_each_node(const Nodes& nodes, const Visit& visit) {
  for (const onnx::NodeProto& node : nodes) {
    visit(node);
    for (const auto& attribute : node.attribute()) for_each_node(attribute.g().node(), visit);
  }
}

using Names = std::set<std::string>;
// The names of inputs, outputs or initializers.
template <typename Values>
Names names_of(const Values& values) {
  Names names;
  for (const auto& value : values) names.insert(value.name());
  return names;
}
// Names that the graph reads from enclosing graphs, also in graphs inside its nodes.
Names free_names(const onnx::GraphProto& graph);
// Names that the node reads, also in graphs inside it.
Names names_read_by(const onnx::NodeProto& node);
// Thrown by functions that lower operators. As these are many and small, an expected failure is an
// exception here, and only here; Lowering::lower() turns it into an Error.
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

// Evaluates a value that depends only on constants; nothing for others, or if more than
// kMostKnownElements would have to be computed.
Result<std::optional<xla::Literal>> known_value(xla::XlaOp op);
// Evaluates a whole computation. REQUIRES: it has no parameters.
Result<xla::Literal> value_of_constants(const xla::XlaComputation& computation);

// The node's name, or that of its first result.
inline const std::string& name_of_node(const onnx::NodeProto& node) {
  return node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
}

// One node of an ONNX graph during lowering: its operands, attributes and results. Operators are
// functions that take a Node (operators.h). A node that is wrong or cannot be compiled ends in a
// Refusal that names it; refuse() throws one.
class Node {
 public:
  // `opset`: the version of the node's domain. The references must outlive the node.
  Node(const onnx::NodeProto& proto, std::int64_t opset, OnnxScope& scope)
      : proto_(proto),
        opset_(opset),
        scope_(scope),
        results_(static_cast<std::size_t>(proto.output_size())) {}

  std::int64_t opset() const { return opset_; }
  xla::XlaBuilder& builder() const { return scope_.builder(); }
  // An error that names the node.
  Error error(const std::string& why, ProblemKind kind = ProblemKind::kModel) const;
  [[noreturn]] void refuse(const std::string& why) const { throw Refusal(error(why)); }
  template <typename First, typename... More>
  [[noreturn]] void refuse(fmt::format_string<First, More...> why, First&& first,
                           More&&... more) const {
    refuse(fmt::format(why, std::forward<First>(first), std::forward<More>(more)...));
  }
  // The node's name, or its first result's.
  const std::string& name() const { return name_of_node(proto_); }
  // Refuses with XLA's message if XLA failed.
  template <typename T>
  T made(absl::StatusOr<T> value) const {
    if (!value.ok()) refuse("cannot be compiled: " + std::string(value.status().message()));
    return *std::move(value);
  }

  // Operands. Optional ones may be omitted, also in the middle.
  int operand_count() const { return proto_.input_size(); }
  bool has(int operand) const;
  xla::XlaOp operand(int index) const;  // refuses a node that leaves it out
  // An invalid XlaOp if the operand is omitted.
  xla::XlaOp operand_if_given(int index) const {
    return has(index) ? operand(index) : xla::XlaOp();
  }
  std::vector<xla::XlaOp> operands(int first = 0) const;  // from this one on
  xla::Shape shape(int operand) const { return shape_of_op(this->operand(operand)); }
  // Works for any value, also in the computations of loops.
  xla::Shape shape_of_op(xla::XlaOp op) const;
  Dimensions sizes(int operand) const { return sizes_of(this->operand(operand)); }
  Dimensions sizes_of(xla::XlaOp op) const;
  std::int64_t rank(int operand) const { return std::ssize(sizes(operand)); }
  xla::PrimitiveType type(int operand) const { return type_of(this->operand(operand)); }
  xla::PrimitiveType type_of(xla::XlaOp op) const { return shape_of_op(op).element_type(); }

  // Operands that must be known at compile time, such as a shape. These refuse others.
  xla::Literal known(int operand) const;
  std::vector<std::int64_t> known_integers(int operand) const;
  std::vector<double> known_reals(int operand) const;
  std::int64_t known_integer(int operand) const;  // one number
  double known_real(int operand) const;
  Dimensions known_sizes(int operand) const;  // of a tensor that can be
  // Nothing if the operand depends on the model's inputs.
  std::optional<std::vector<std::int64_t>> integers_if_known(int operand) const;

  // Refuses impossible sizes: negative ones, or more than kMostTensorElements elements. XLA ends
  // the process for some of them.
  void check_sizes(const Dimensions& sizes) const;
  // Refuses to compute more than `most` elements at compile time (base/limits.h).
  void check_made(std::int64_t elements, std::int64_t most) const;

  // Attributes. Those without a default are required. Lists are empty if the attribute is missing.
  using Attribute = onnx::AttributeProto;
  bool has_attribute(const std::string& name) const { return find(name) != nullptr; }
  std::int64_t integer(const std::string& name) const { return needed(name, Attribute::INT).i(); }
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const {
    return has_attribute(name) ? integer(name) : otherwise;
  }
  float real(const std::string& name, float otherwise) const {
    return has_attribute(name) ? needed(name, Attribute::FLOAT).f() : otherwise;
  }
  std::string text(const std::string& name, const std::string& otherwise) const {
    return has_attribute(name) ? needed(name, Attribute::STRING).s() : otherwise;
  }
  std::vector<std::int64_t> integers(const std::string& name) const {
    const auto& list = given(name, Attribute::INTS).ints();
    return {list.begin(), list.end()};
  }
  template <typename T = float>
  std::vector<T> reals(const std::string& name) const {
    const auto& list = given(name, Attribute::FLOATS).floats();
    return {list.begin(), list.end()};
  }
  std::vector<std::string> texts(const std::string& name) const {
    const auto& list = given(name, Attribute::STRINGS).strings();
    return {list.begin(), list.end()};
  }
  std::optional<std::vector<std::int64_t>> optional_integers(const std::string& name) const {
    return has_attribute(name) ? std::optional(integers(name)) : std::nullopt;
  }
  std::optional<xla::Literal> tensor(const std::string& name) const;
  const onnx::GraphProto& graph(const std::string& name) const {
    return needed(name, Attribute::GRAPH).g();
  }
  bool flag(const std::string& name, bool otherwise = false) const {
    return integer(name, otherwise ? 1 : 0) != 0;
  }
  // One of these words; the first is the default.
  std::string word(const std::string& name, std::initializer_list<const char*> words) const;
  // The enumerator at the position of the word.
  template <typename Enum>
  Enum choice(const std::string& name, std::initializer_list<const char*> words) const {
    return static_cast<Enum>(place_of_word(name, words));
  }
  // The element type with this ONNX number. `does`: "casts to", for the refusal of types that XLA
  // lacks.
  xla::PrimitiveType type_of_number(std::int64_t number, const std::string& does) const;
  [[noreturn]] void refuse_type(std::int64_t number, const std::string& does) const;
  // Counted from 0; negative axes count from the end.
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;
  std::vector<std::int64_t> axes(std::vector<std::int64_t> axes, std::int64_t rank) const;
  // The attribute 'axes'; all axes if it is missing.
  std::vector<std::int64_t> axes_attribute(std::int64_t rank) const {
    return axes(optional_integers("axes").value_or(counted(rank)), rank);
  }

  // Results. Optional and trailing ones may be unwanted.
  int result_count() const { return proto_.output_size(); }
  bool wants(int result) const;
  void set(int result, xla::XlaOp op);
  void set(xla::XlaOp op) { set(0, op); }
  const std::vector<xla::XlaOp>& results() const { return results_; }
  // Marks a result as impossible: an error only if something reads it.
  void leave_out(int result, const std::string& why);

  // Makes a weight of the model from a value computed from attributes. `what`: "trees".
  xla::XlaOp keep(const std::string& what, const xla::Literal& value);

  // For graphs inside the node: If, Loop and Scan.
  OnnxScope& scope() const { return scope_; }
  const onnx::NodeProto& proto() const { return proto_; }

 private:
  int place_of_word(const std::string& name, std::initializer_list<const char*> words) const;
  template <typename T>
  std::vector<T> numbers(const xla::Literal& value, int operand) const;
  template <typename T>
  T number(int operand) const;
  const Attribute* find(const std::string& name) const;
  // Refuse an attribute of another type. If it is missing, `given` returns an empty one and
  // `needed` refuses.
  const Attribute& given(const std::string& name, Attribute::AttributeType type) const;
  const Attribute& needed(const std::string& name, Attribute::AttributeType type) const;

  const onnx::NodeProto& proto_;
  std::int64_t opset_;
  OnnxScope& scope_;
  std::vector<xla::XlaOp> results_;
};

// "node 'x' (operator Conv, opset 17)"
std::string describe_node(const onnx::NodeProto& node, std::int64_t opset);

}  // namespace tfaot::toolkit::engine
