// SPDX-License-Identifier: Apache-2.0
#include "onnx/lifted_constants.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowering/conversions.h"
#include "lowering/weight_rule.h"
#include "onnx/onnx_tensor.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

bool is_weight_tensor(const TensorProto& tensor) {
  const auto type = element_type(tensor.data_type());
  const auto& sizes = tensor.dims();
  return type && is_weight_constant(dtype_of(*type),
                                    {sizes.data(), static_cast<std::size_t>(sizes.size())});
}

// What a Constant node holds; nothing if it is no tensor, or the call of its function says it.
std::optional<TensorProto> tensor_of_constant(const NodeProto& node) {
  if (node.op_type() != "Constant" || !plain_domain(node.domain()).empty() ||
      node.attribute_size() != 1 || node.output_size() != 1) {
    return std::nullopt;
  }
  const auto& attribute = node.attribute(0);
  if (!attribute.ref_attr_name().empty()) return std::nullopt;
  if (attribute.name() == "value") return attribute.t();
  TensorProto tensor;
  if (attribute.name() == "value_floats") {
    tensor.set_data_type(TensorProto::FLOAT);
    tensor.add_dims(attribute.floats_size());
    *tensor.mutable_float_data() = attribute.floats();
    return tensor;
  }
  if (attribute.name() == "value_ints") {
    tensor.set_data_type(TensorProto::INT64);
    tensor.add_dims(attribute.ints_size());
    *tensor.mutable_int64_data() = attribute.ints();
    return tensor;
  }
  return std::nullopt;
}

// How often each name is given to a value, also in graphs inside of nodes.
using NameCounts = std::map<std::string, int>;
void count_names(const Nodes& nodes, NameCounts& counts);
void count_names(const GraphProto& graph, NameCounts& counts) {
  for (const auto& input : graph.input()) ++counts[input.name()];
  for (const auto& initializer : graph.initializer()) ++counts[initializer.name()];
  count_names(graph.node(), counts);
}
void count_names(const Nodes& nodes, NameCounts& counts) {
  for (const NodeProto& node : nodes) {
    for (const std::string& made : node.output()) ++counts[made];
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count_names(attribute.g(), counts);
    }
  }
}

std::string unused_name(const std::string& wanted, NameCounts& counts) {
  std::string name = wanted;
  for (int i = 2; counts.count(name) > 0; ++i) name = fmt::format("{}_{}", wanted, i);
  ++counts[name];
  return name;
}

void rename_reads(GraphProto& graph, const std::string& from, const std::string& to) {
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& read : *node.mutable_input()) {
      if (read == from) read = to;
    }
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rename_reads(*attribute.mutable_g(), from, to);
    }
  }
  for (auto& output : *graph.mutable_output()) {
    if (output.name() == from) output.set_name(to);
  }
}

class ConstantLift {
 public:
  explicit ConstantLift(OnnxModel& model) : model_(model), graph_(*model.proto.mutable_graph()) {
    count_names(graph_, names_);
  }

  void run() {
    for (FunctionProto& function : *model_.proto.mutable_functions()) visit(function);
    Place place{names_, [](const std::string& initializer) { return initializer; },
                [this](TensorProto tensor, const std::string& name) {
                  tensor.set_name(name);
                  *graph_.add_initializer() = std::move(tensor);
                }};
    visit(*graph_.mutable_node(), place);
  }

 private:
  // A graph or a function, with the graphs inside of its nodes: what they all can read.
  struct Place {
    NameCounts& names;
    // The name under which the place reads an initializer.
    std::function<std::string(const std::string& initializer)> read;
    // Makes the tensor an initializer that the place reads by this name.
    std::function<void(TensorProto, const std::string& name)> add;
  };

  void visit(FunctionProto& function) {
    if (lifted_.count(&function) > 0) return;
    const int inputs = function.input_size();
    NameCounts names;
    for (const std::string& input : function.input()) ++names[input];
    count_names(function.node(), names);
    std::vector<std::string> initializers;  // of the new inputs
    const auto add_input = [&](const std::string& initializer, const std::string& name) {
      initializers.push_back(initializer);
      function.add_input(name);
    };
    Place place{names,
                [&](const std::string& initializer) {
                  for (std::size_t i = 0; i < initializers.size(); ++i) {
                    if (initializers[i] == initializer)
                      return function.input(inputs + static_cast<int>(i));
                  }
                  std::string name = unused_name(initializer, names);
                  add_input(initializer, name);
                  return name;
                },
                [&](TensorProto tensor, const std::string& name) {
                  tensor.set_name(unused_name(function.name() + "/" + name, names_));
                  add_input(tensor.name(), name);
                  *graph_.add_initializer() = std::move(tensor);
                }};
    visit(*function.mutable_node(), place);
    lifted_[&function] = {inputs, std::move(initializers)};
  }

  void visit(Nodes& nodes, Place& place) {
    Nodes kept;
    for (NodeProto& node : nodes) {
      auto tensor = tensor_of_constant(node);
      if (tensor && is_weight_tensor(*tensor)) {
        place.add(*std::move(tensor), node.output(0));
        continue;
      }
      visit_node(node, place);
      kept.Add()->Swap(&node);
    }
    nodes.Swap(&kept);
  }

  void visit_node(NodeProto& node, Place& place) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit_inside(*attribute.mutable_g(), place);
    }
    for (FunctionProto& function : *model_.proto.mutable_functions()) {
      if (&function != function_of(model_, node)) continue;
      visit(function);
      const Lifted& lifted = lifted_.at(&function);
      if (lifted.initializers.empty()) return;
      while (node.input_size() < lifted.inputs) node.add_input();
      for (const std::string& one : lifted.initializers) node.add_input(place.read(one));
      return;
    }
  }

  // Names are those of one graph and of those around it: another may have the same.
  void visit_inside(GraphProto& graph, Place& place) {
    Place inside{place.names, place.read, [&](TensorProto tensor, const std::string& name) {
                   std::string own = name;
                   if (place.names[name] > 1) {
                     own = unused_name(name, place.names);
                     rename_reads(graph, name, own);
                   }
                   place.add(std::move(tensor), own);
                 }};
    google::protobuf::RepeatedPtrField<TensorProto> kept;
    for (TensorProto& initializer : *graph.mutable_initializer()) {
      if (is_weight_tensor(initializer)) {
        const std::string name = initializer.name();
        inside.add(std::move(initializer), name);
      } else {
        *kept.Add() = std::move(initializer);
      }
    }
    graph.mutable_initializer()->Swap(&kept);
    visit(*graph.mutable_node(), inside);
  }

  struct Lifted {
    int inputs = 0;  // that the function had before
    std::vector<std::string> initializers;
  };

  OnnxModel& model_;
  GraphProto& graph_;
  NameCounts names_;
  std::map<const FunctionProto*, Lifted> lifted_;
};

}  // namespace

void lift_onnx_constants(OnnxModel& model) { ConstantLift(model).run(); }

}  // namespace tfaot::toolkit::engine
