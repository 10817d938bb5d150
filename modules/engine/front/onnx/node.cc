// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/node.h"

#include <fmt/ranges.h>

#include "compiler/hlo/conversions.h"
#include "front/onnx/onnx_source.h"
#include "front/onnx/operators.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::NodeProto;

// Attributes instructions to the node, for messages and `tfaot inspect`.
xla::OpMetadata metadata_of(const NodeProto& node) {
  xla::OpMetadata metadata;
  metadata.set_op_type(printable_line(node.op_type()));  // HLO files hold UTF-8 alone
  metadata.set_op_name(printable_line(name_of_node(node)));
  return metadata;
}

// True if few elements would be computed. Constants exist already.
bool is_small_enough(const xla::XlaComputation& computation) {
  std::int64_t elements = 0;
  for (const auto& one : computation.proto().computations()) {
    for (const auto& instruction : one.instructions()) {
      if (instruction.opcode() == "constant") continue;
      const xla::Shape shape(instruction.shape());
      if (shape.IsArray()) elements += xla::ShapeUtil::ElementsIn(shape);
      if (elements > kMostKnownElements) return false;
    }
  }
  return true;
}

}  // namespace

std::int64_t opset_of(const NodeProto& node, const Opsets& opsets) {
  for (const auto& property : node.metadata_props()) {
    if (property.key() == kOpsetProperty)
      return parse_number<std::int64_t>(property.value()).value_or(0);
  }
  const auto found = opsets.find(plain_domain(node.domain()));
  return found == opsets.end() ? 0 : found->second;
}

Names names_read_by(const NodeProto& node) {
  Names names(node.input().begin(), node.input().end());
  names.erase("");
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) names.merge(free_names(attribute.g()));
    for (const auto& graph : attribute.graphs()) names.merge(free_names(graph));
  }
  return names;
}

Names free_names(const onnx::GraphProto& graph) {
  Names names = names_of(graph.output());
  for (const NodeProto& node : graph.node()) names.merge(names_read_by(node));
  for (const NodeProto& node : graph.node()) {
    for (const std::string& made : node.output()) names.erase(made);
  }
  for (const auto& input : graph.input()) names.erase(input.name());
  for (const auto& initializer : graph.initializer()) names.erase(initializer.name());
  return names;
}

std::optional<xla::XlaOp> OnnxScope::find(const std::string& name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  const auto missing = missing_.find(name);
  if (missing != missing_.end()) throw Refusal(missing->second);
  return around_ == nullptr ? std::nullopt : around_->find(name);
}

xla::XlaOp OnnxScope::keep(const std::string& name, const xla::Literal& value) const {
  if (keeper_) return keeper_(name, value);
  const bool shares_builder = around_ != nullptr && &around_->builder_ == &builder_;
  return shares_builder ? around_->keep(name, value) : xla::ConstantLiteral(&builder_, value);
}

void OnnxScope::lower(const onnx::GraphProto& graph) {
  Names read = names_of(graph.output());
  for (const NodeProto& node : graph.node()) read.merge(names_read_by(node));
  for (const auto& initializer : graph.initializer()) {
    if (values_.count(initializer.name()) > 0 || read.count(initializer.name()) == 0) continue;
    const xla::Literal value = or_refuse(read_tensor(initializer, model_.file));
    set(initializer.name(), xla::ConstantLiteral(&builder_, value));
  }
  for (const NodeProto& node : graph.node()) lower_node(node);
}

std::vector<xla::XlaOp> OnnxScope::outputs_of(const onnx::GraphProto& graph) const {
  return mapped(graph.output(), [this](const auto& output) {
    const auto found = find(output.name());
    if (!found) throw Refusal(Error(fmt::format("no node makes the output '{}'", output.name())));
    return *found;
  });
}

void OnnxScope::lower_node(const NodeProto& proto) {
  if (++state_->nodes > kMostNodes) {
    throw Refusal(
        Error(fmt::format("the graph has more than {} nodes once functions are called and "
                          "loops of known length written out",
                          kMostNodes)));
  }
  Node node(proto, opset_of(proto, opsets_), *this);
  if (node.opset() == 0)
    node.refuse("is of domain '{}', which the model does not import", proto.domain());
  const xla::XlaScopedOpMetadataAssignment traced(&builder_, metadata_of(proto));
  lower_operator(plain_domain(proto.domain()), proto.op_type(), node);
  for (int i = 0; i < node.result_count(); ++i) {
    if (!node.wants(i)) continue;
    const xla::XlaOp made = node.results()[static_cast<std::size_t>(i)];
    if (missing_.count(proto.output(i)) > 0) continue;
    if (!made.valid()) node.refuse("has a result '{}' that it cannot make", proto.output(i));
    set(proto.output(i), made);
  }
}

Result<std::optional<xla::Literal>> known_value(xla::XlaOp op) {
  TFAOT_ASSIGN(const bool is_constant, or_internal(op.builder()->IsConstant(op)));
  if (!is_constant) return std::optional<xla::Literal>();
  TFAOT_ASSIGN(const auto computation, or_internal(op.builder()->BuildConstantSubGraph(op)));
  if (!is_small_enough(computation)) return std::optional<xla::Literal>();
  TFAOT_ASSIGN(auto value, value_of_constants(computation));
  return std::optional<xla::Literal>(std::move(value));
}

Result<xla::Literal> value_of_constants(const xla::XlaComputation& computation) {
  TFAOT_ASSIGN(const auto module, make_module(computation.proto()));
  return or_internal(xla::HloEvaluator().Evaluate(*module, {}));
}

std::string describe_node(const onnx::NodeProto& node, std::int64_t opset) {
  const std::string domain = node.domain().empty() ? "" : node.domain() + ".";
  return fmt::format("node '{}' (operator {}{}, opset {})", name_of_node(node), domain,
                     node.op_type(), opset);
}

Error Node::error(const std::string& why, ProblemKind kind) const {
  return Error(fmt::format("{} {}", describe_node(proto_, opset_), why))
      .about(word_of(kind), {proto_.name()});
}

bool Node::has(int operand) const {
  return operand < proto_.input_size() && !proto_.input(operand).empty();
}

xla::XlaOp Node::operand(int index) const {
  if (!has(index)) refuse("has no operand {}", index);
  const auto found = scope_.find(proto_.input(index));
  if (!found) refuse("reads '{}', which no node makes", proto_.input(index));
  return *found;
}

std::vector<xla::XlaOp> Node::operands(int first) const {
  return mapped(counted(std::max(0, operand_count() - first), first),
                [this](std::int64_t i) { return operand(static_cast<int>(i)); });
}

xla::Shape Node::shape_of_op(xla::XlaOp op) const {
  const xla::XlaBuilder& owner = op.IsUninitialized() ? builder() : *op.builder();
  return made(owner.GetShape(op));
}

Dimensions Node::sizes_of(xla::XlaOp op) const {
  const xla::Shape shape = shape_of_op(op);
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

xla::Literal Node::known(int operand) const {
  const xla::XlaOp op = this->operand(operand);
  auto value = or_refuse(known_value(op));
  if (value) return *std::move(value);
  const std::string needs =
      fmt::format("needs the value of '{}' while compiling, ", proto_.input(operand));
  if (op.builder()->IsConstant(op).value_or(false)) {
    refuse("{}for which more than {} numbers would have to be computed", needs, kMostKnownElements);
  }
  throw Refusal(
      error(needs + "but it depends on the model's inputs", ProblemKind::kDataDependentSize)
          .note("a compiled model has fixed sizes; an input's value can be fixed in the "
                "config: model.constants"));
}

template <typename T>
std::vector<T> Node::numbers(const xla::Literal& value, int operand) const {
  const auto converted = value.Convert(xla::primitive_util::NativeToPrimitiveType<T>());
  if (!converted.ok()) {
    refuse("needs {} as operand {}", std::is_integral_v<T> ? "integers" : "numbers", operand);
  }
  const auto data = converted->template data<T>();
  return {data.begin(), data.end()};
}

template <typename T>
T Node::number(int operand) const {
  const auto values = numbers<T>(known(operand), operand);
  if (values.size() != 1) refuse("needs one number as operand {}", operand);
  return values.front();
}

std::vector<std::int64_t> Node::known_integers(int operand) const {
  return numbers<std::int64_t>(known(operand), operand);
}
std::vector<double> Node::known_reals(int operand) const {
  return numbers<double>(known(operand), operand);
}
std::int64_t Node::known_integer(int operand) const { return number<std::int64_t>(operand); }
double Node::known_real(int operand) const { return number<double>(operand); }

Dimensions Node::known_sizes(int operand) const {
  Dimensions sizes = known_integers(operand);
  check_sizes(sizes);
  return sizes;
}

std::optional<std::vector<std::int64_t>> Node::integers_if_known(int operand) const {
  const auto value = or_refuse(known_value(this->operand(operand)));
  if (!value) return std::nullopt;
  return numbers<std::int64_t>(*value, operand);
}

void Node::check_sizes(const Dimensions& sizes) const {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) refuse("makes a dimension of size {}", size);
    if (size > kMostTensorElements / std::max<std::int64_t>(elements, 1)) {
      refuse("makes a tensor of sizes [{}], which is larger than any memory",
             fmt::join(sizes, ", "));
    }
    elements *= std::max<std::int64_t>(size, 1);
  }
}

void Node::check_made(std::int64_t elements, std::int64_t most) const {
  if (elements <= most) return;
  refuse("makes {} numbers while compiling, and at most {} can be", elements, most);
}

const onnx::AttributeProto* Node::find(const std::string& name) const {
  const auto found = std::ranges::find(proto_.attribute(), name, &Attribute::name);
  return found == proto_.attribute().end() ? nullptr : &*found;
}

const onnx::AttributeProto& Node::given(const std::string& name,
                                        Attribute::AttributeType type) const {
  const Attribute* const found = find(name);
  if (found == nullptr) return Attribute::default_instance();
  if (found->type() != type) {
    refuse("has an attribute '{}' of type {} instead of {}", name,
           Attribute::AttributeType_Name(found->type()), Attribute::AttributeType_Name(type));
  }
  return *found;
}

const onnx::AttributeProto& Node::needed(const std::string& name,
                                         Attribute::AttributeType type) const {
  if (!has_attribute(name)) refuse("has no attribute '{}'", name);
  return given(name, type);
}

std::optional<xla::Literal> Node::tensor(const std::string& name) const {
  if (!has_attribute(name)) return std::nullopt;
  return or_refuse(read_tensor(given(name, Attribute::TENSOR).t(), scope_.model().file));
}

int Node::place_of_word(const std::string& name, std::initializer_list<const char*> words) const {
  const std::string given = text(name, *words.begin());
  const auto* const found = std::ranges::find(words, given);
  if (found == words.end()) refuse("has the {} '{}'", name, given);
  return static_cast<int>(found - words.begin());
}

std::string Node::word(const std::string& name, std::initializer_list<const char*> words) const {
  return *(words.begin() + place_of_word(name, words));
}

xla::PrimitiveType Node::type_of_number(std::int64_t number, const std::string& does) const {
  if (const auto type = element_type(static_cast<int>(number))) return *type;
  refuse_type(number, does);
}

void Node::refuse_type(std::int64_t number, const std::string& does) const {
  refuse("{} {}, which cannot be compiled", does, onnx_type_name(static_cast<int>(number)));
}

std::int64_t Node::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank)
    refuse("has axis {}, but its operand has {} dimensions", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> Node::axes(std::vector<std::int64_t> axes, std::int64_t rank) const {
  for (std::int64_t& one : axes) one = axis(one, rank);
  return axes;
}

bool Node::wants(int result) const {
  return result < proto_.output_size() && !proto_.output(result).empty();
}

void Node::leave_out(int result, const std::string& why) {
  if (wants(result)) scope_.set_missing(proto_.output(result), error(why));
}

xla::XlaOp Node::keep(const std::string& what, const xla::Literal& value) {
  return scope_.keep(name() + "/" + what, value);
}

void Node::set(int result, xla::XlaOp op) {
  const xla::Shape shape = shape_of_op(op);  // this node is to blame if XLA refuses it
  if (shape.IsArray()) check_sizes({shape.dimensions().begin(), shape.dimensions().end()});
  if (wants(result)) results_[static_cast<std::size_t>(result)] = op;
}

}  // namespace tfaot::toolkit::engine
