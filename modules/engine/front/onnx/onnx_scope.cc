// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/onnx_scope.h"

#include <fmt/format.h>

#include "front/onnx/node.h"
#include "front/onnx/onnx_tensor.h"
#include "front/onnx/operators.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::NodeProto;

// Marks instructions as made by the node, for messages and `tfaot inspect`.
class Trace {
 public:
  Trace(xla::XlaBuilder& builder, const NodeProto& node) : builder_(builder) {
    xla::OpMetadata metadata;
    metadata.set_op_type(printable_line(node.op_type()));  // HLO files hold UTF-8 alone
    metadata.set_op_name(printable_line(name_of_node(node)));
    before_ = builder.SwapOpMetadata(metadata);
  }
  ~Trace() { builder_.SwapOpMetadata(before_); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

 private:
  xla::XlaBuilder& builder_;
  xla::OpMetadata before_;
};

// The nodes of a function with the attributes of its call in place of references to them.
std::vector<NodeProto> nodes_of_call(const NodeProto& call, const onnx::FunctionProto& function) {
  std::map<std::string, const onnx::AttributeProto*> given;
  for (const auto& attribute : function.attribute_proto()) given[attribute.name()] = &attribute;
  for (const auto& attribute : call.attribute()) given[attribute.name()] = &attribute;
  std::vector<NodeProto> nodes(function.node().begin(), function.node().end());
  for (NodeProto& node : nodes) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
    for (const auto& attribute : node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *attributes.Add() = attribute;
        continue;
      }
      const auto found = given.find(attribute.ref_attr_name());
      if (found == given.end()) continue;  // left out: the operator's default
      onnx::AttributeProto& taken = *attributes.Add();
      taken = *found->second;
      taken.set_name(attribute.name());
    }
    *node.mutable_attribute() = std::move(attributes);
    node.set_name(call.name() + "/" + node.name());
  }
  return nodes;
}

}  // namespace

const onnx::FunctionProto* function_of(const OnnxModel& model, const NodeProto& node) {
  for (const auto& function : model.proto.functions()) {
    if (function.name() == node.op_type() && function.overload() == node.overload() &&
        plain_domain(function.domain()) == plain_domain(node.domain())) {
      return &function;
    }
  }
  return nullptr;
}

std::set<std::string> names_read_by(const NodeProto& node) {
  std::set<std::string> names(node.input().begin(), node.input().end());
  names.erase("");
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) names.merge(free_names(attribute.g()));
    for (const auto& graph : attribute.graphs()) names.merge(free_names(graph));
  }
  return names;
}

std::set<std::string> free_names(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& output : graph.output()) names.insert(output.name());
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
  std::set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  const auto nodes = needed_nodes(graph.node(), outputs);
  std::set<std::string> read = outputs;
  for (const NodeProto* const node : nodes) read.merge(names_read_by(*node));
  for (const auto& initializer : graph.initializer()) {
    if (values_.count(initializer.name()) > 0 || read.count(initializer.name()) == 0) continue;
    const xla::Literal value = or_refuse(read_tensor(initializer, model_.file));
    set(initializer.name(), xla::ConstantLiteral(&builder_, value));
  }
  for (const NodeProto* const node : nodes) lower_node(*node);
}

std::vector<xla::XlaOp> OnnxScope::outputs_of(const onnx::GraphProto& graph) const {
  std::vector<xla::XlaOp> outputs;
  for (const auto& output : graph.output()) {
    const auto found = find(output.name());
    if (!found) {
      throw Refusal(Error(fmt::format("no node makes the output '{}'", output.name())));
    }
    outputs.push_back(*found);
  }
  return outputs;
}

void OnnxScope::lower_node(const NodeProto& proto) {
  if (++state_->nodes > kMostNodes) {
    throw Refusal(
        Error(fmt::format("the graph has more than {} nodes once functions are called and "
                          "loops of known length written out",
                          kMostNodes)));
  }
  if (const auto* const function = function_of(model_, proto)) return lower_call(proto, *function);
  const std::string domain = plain_domain(proto.domain());
  const auto opset = opsets_.find(domain);
  Node node(proto, opset == opsets_.end() ? 0 : opset->second, *this);
  if (opset == opsets_.end()) {
    node.refuse(fmt::format("is of domain '{}', which the model does not import", proto.domain()));
  }
  const Trace trace(builder_, proto);
  lower_operator(domain, proto.op_type(), node);
  for (int i = 0; i < node.result_count(); ++i) {
    if (!node.wants(i)) continue;
    const xla::XlaOp made = node.results()[static_cast<std::size_t>(i)];
    if (missing_.count(proto.output(i)) > 0) continue;
    if (!made.valid())
      node.refuse(fmt::format("has a result '{}' that it cannot make", proto.output(i)));
    set(proto.output(i), made);
  }
}

void OnnxScope::lower_call(const NodeProto& call, const onnx::FunctionProto& function) {
  const Opsets opsets = opsets_of(function.opset_import());
  OnnxScope inside(*this, opsets, builder_, nullptr);
  inside.keep_by(
      [this](const std::string& name, const xla::Literal& value) { return keep(name, value); });
  const Node node(call, 0, *this);
  if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) {
    node.refuse(fmt::format("has {} inputs and {} outputs, but its function {} and {}",
                            call.input_size(), call.output_size(), function.input_size(),
                            function.output_size()));
  }
  for (int i = 0; i < function.input_size() && i < node.operand_count(); ++i) {
    if (node.has(i)) inside.set(function.input(i), node.operand(i));
  }
  const auto nodes = nodes_of_call(call, function);
  const std::set<std::string> outputs(function.output().begin(), function.output().end());
  for (const NodeProto* const one : needed_nodes(nodes, outputs)) inside.lower_node(*one);
  for (int i = 0; i < function.output_size() && i < call.output_size(); ++i) {
    if (call.output(i).empty()) continue;
    const auto found = inside.find(function.output(i));
    if (!found)
      node.refuse(fmt::format("calls a function that does not make '{}'", function.output(i)));
    set(call.output(i), *found);
  }
}

}  // namespace tfaot::toolkit::engine
