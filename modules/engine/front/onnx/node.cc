// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "compiler/hlo/conversions.h"
#include "front/onnx/onnx_scope.h"
#include "front/onnx/onnx_tensor.h"
#include "tfaot/base/limits.h"
#include "tfaot/records/model_check.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::AttributeProto;

// Constants are there already.
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

// Does not depend on parameters.
bool is_computed_of_constants(xla::XlaOp op) {
  const auto constant = op.builder()->IsConstant(op);
  return constant.ok() && *constant;
}

}  // namespace

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

const std::string& name_of_node(const onnx::NodeProto& node) {
  return node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
}

std::string describe_node(const onnx::NodeProto& node, std::int64_t opset) {
  const std::string domain = node.domain().empty() ? "" : node.domain() + ".";
  return fmt::format("node '{}' (operator {}{}, opset {})", name_of_node(node), domain,
                     node.op_type(), opset);
}

xla::XlaBuilder& Node::builder() const { return scope_.builder(); }

Error Node::error(const std::string& why) const {
  return Error(fmt::format("{} {}", describe_node(proto_, opset_), why))
      .about(word_of(ProblemKind::kModel), {proto_.name()});
}

void Node::refuse(const std::string& why) const { throw Refusal(error(why)); }

bool Node::has(int operand) const {
  return operand < proto_.input_size() && !proto_.input(operand).empty();
}

xla::XlaOp Node::operand(int index) const {
  if (!has(index)) refuse(fmt::format("has no operand {}", index));
  const auto found = scope_.find(proto_.input(index));
  if (!found) refuse(fmt::format("reads '{}', which no node makes", proto_.input(index)));
  return *found;
}

std::vector<xla::XlaOp> Node::operands() const {
  std::vector<xla::XlaOp> all;
  for (int i = 0; i < operand_count(); ++i) all.push_back(operand(i));
  return all;
}

const std::string& Node::name() const { return name_of_node(proto_); }

xla::Shape Node::shape_of_op(xla::XlaOp op) const {
  const xla::XlaBuilder& owner = op.IsUninitialized() ? builder() : *op.builder();
  return made(owner.GetShape(op));
}

Dimensions Node::sizes_of(xla::XlaOp op) const {
  const xla::Shape shape = shape_of_op(op);
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

std::int64_t Node::rank(int operand) const { return std::ssize(sizes(operand)); }

xla::PrimitiveType Node::type_of(xla::XlaOp op) const { return shape_of_op(op).element_type(); }

xla::Literal Node::known(int operand) const {
  auto value = or_refuse(known_value(this->operand(operand)));
  if (!value && is_computed_of_constants(this->operand(operand))) {
    refuse(
        fmt::format("needs the value of '{}' while compiling, for which more than {} numbers "
                    "would have to be computed",
                    proto_.input(operand), kMostKnownElements));
  }
  if (!value) {
    throw Refusal(
        Error(fmt::format("{} needs the value of '{}' while compiling, but it depends on the "
                          "model's inputs",
                          describe_node(proto_, opset_), proto_.input(operand)))
            .note("a compiled model has fixed sizes; an input's value can be fixed in the config: "
                  "model.constants")
            .about(word_of(ProblemKind::kDataDependentSize), {proto_.name()}));
  }
  return *std::move(value);
}

std::vector<std::int64_t> Node::known_integers(int operand) const {
  const auto value = known(operand).Convert(xla::S64);
  if (!value.ok()) refuse(fmt::format("needs integers as operand {}", operand));
  const auto integers = value->data<std::int64_t>();
  return {integers.begin(), integers.end()};
}

std::vector<double> Node::known_reals(int operand) const {
  const auto value = known(operand).Convert(xla::F64);
  if (!value.ok()) refuse(fmt::format("needs numbers as operand {}", operand));
  const auto reals = value->data<double>();
  return {reals.begin(), reals.end()};
}

std::int64_t Node::known_integer(int operand) const {
  const auto values = known_integers(operand);
  if (values.size() != 1) refuse(fmt::format("needs one number as operand {}", operand));
  return values.front();
}

double Node::known_real(int operand) const {
  const auto values = known_reals(operand);
  if (values.size() != 1) refuse(fmt::format("needs one number as operand {}", operand));
  return values.front();
}

Dimensions Node::known_sizes(int operand) const {
  Dimensions sizes = known_integers(operand);
  check_sizes(sizes);
  return sizes;
}

std::optional<std::vector<std::int64_t>> Node::integers_if_known(int operand) const {
  const auto value = or_refuse(known_value(this->operand(operand)));
  if (!value) return std::nullopt;
  const auto whole = value->Convert(xla::S64);
  if (!whole.ok()) refuse(fmt::format("needs integers as operand {}", operand));
  const auto integers = whole->data<std::int64_t>();
  return std::vector<std::int64_t>(integers.begin(), integers.end());
}

void Node::check_sizes(const Dimensions& sizes) const {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) refuse(fmt::format("makes a dimension of size {}", size));
    if (size > kMostTensorElements / std::max<std::int64_t>(elements, 1)) {
      refuse(fmt::format("makes a tensor of sizes [{}], which is larger than any memory",
                         fmt::join(sizes, ", ")));
    }
    elements *= std::max<std::int64_t>(size, 1);
  }
}

void Node::check_made(std::int64_t elements, std::int64_t most) const {
  if (elements <= most) return;
  refuse(fmt::format("makes {} numbers while compiling, and at most {} can be", elements, most));
}

const AttributeProto* Node::find(const std::string& name) const {
  for (const AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const AttributeProto* Node::find(const std::string& name,
                                 AttributeProto::AttributeType type) const {
  const AttributeProto* const found = find(name);
  if (found != nullptr && found->type() != type) {
    refuse(fmt::format("has an attribute '{}' of type {} instead of {}", name,
                       AttributeProto::AttributeType_Name(found->type()),
                       AttributeProto::AttributeType_Name(type)));
  }
  return found;
}

std::int64_t Node::integer(const std::string& name) const {
  const AttributeProto* const found = find(name, AttributeProto::INT);
  if (found == nullptr) refuse(fmt::format("has no attribute '{}'", name));
  return found->i();
}

std::int64_t Node::integer(const std::string& name, std::int64_t otherwise) const {
  const AttributeProto* const found = find(name, AttributeProto::INT);
  return found == nullptr ? otherwise : found->i();
}

float Node::real(const std::string& name, float otherwise) const {
  const AttributeProto* const found = find(name, AttributeProto::FLOAT);
  return found == nullptr ? otherwise : found->f();
}

std::string Node::text(const std::string& name, const std::string& otherwise) const {
  const AttributeProto* const found = find(name, AttributeProto::STRING);
  return found == nullptr ? otherwise : found->s();
}

std::optional<std::vector<std::int64_t>> Node::optional_integers(const std::string& name) const {
  const AttributeProto* const found = find(name, AttributeProto::INTS);
  if (found == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}

std::vector<std::int64_t> Node::integers(const std::string& name) const {
  return optional_integers(name).value_or(std::vector<std::int64_t>());
}

std::vector<float> Node::reals(const std::string& name) const {
  const AttributeProto* const found = find(name, AttributeProto::FLOATS);
  if (found == nullptr) return {};
  return {found->floats().begin(), found->floats().end()};
}

std::vector<std::string> Node::texts(const std::string& name) const {
  const AttributeProto* const found = find(name, AttributeProto::STRINGS);
  if (found == nullptr) return {};
  return {found->strings().begin(), found->strings().end()};
}

std::optional<xla::Literal> Node::tensor(const std::string& name) const {
  const AttributeProto* const found = find(name, AttributeProto::TENSOR);
  if (found == nullptr) return std::nullopt;
  return or_refuse(read_tensor(found->t(), scope_.model().file));
}

const onnx::GraphProto& Node::graph(const std::string& name) const {
  const AttributeProto* const found = find(name, AttributeProto::GRAPH);
  if (found == nullptr) refuse(fmt::format("has no attribute '{}'", name));
  return found->g();
}

int Node::place_of_word(const std::string& name, std::initializer_list<const char*> words) const {
  const std::string given = text(name, *words.begin());
  const auto* const found = std::ranges::find(words, given);
  if (found == words.end()) refuse(fmt::format("has the {} '{}'", name, given));
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
  refuse(fmt::format("{} {}, which cannot be compiled", does,
                     onnx_type_name(static_cast<int>(number))));
}

std::int64_t Node::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank) {
    refuse(fmt::format("has axis {}, but its operand has {} dimensions", axis, rank));
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> Node::axes(std::vector<std::int64_t> axes, std::int64_t rank) const {
  for (std::int64_t& one : axes) one = axis(one, rank);
  return axes;
}

std::vector<std::int64_t> Node::axes_attribute(std::int64_t rank) const {
  if (const auto given = optional_integers("axes")) return axes(*given, rank);
  std::vector<std::int64_t> all(static_cast<std::size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
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
  const xla::Shape shape = shape_of_op(op);  // what XLA refuses is the fault of this node
  if (shape.IsArray()) check_sizes({shape.dimensions().begin(), shape.dimensions().end()});
  if (wants(result)) results_[static_cast<std::size_t>(result)] = op;
}

}  // namespace tfaot::toolkit::engine
