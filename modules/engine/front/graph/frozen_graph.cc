// SPDX-License-Identifier: Apache-2.0
#include "front/graph/frozen_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "compiler/hlo/conversions.h"
#include "front/graph/graph_nodes.h"
#include "front/lowering/signature_checks.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/platform/env.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

Status read_graph(const std::string& file, tf::GraphDef& graph) {
  const auto status = file.ends_with(".pbtxt")
                          ? tf::ReadTextProto(tf::Env::Default(), file, &graph)
                          : tf::ReadBinaryProto(tf::Env::Default(), file, &graph);
  if (!status.ok()) return fail(error_of(status, "not a frozen graph (GraphDef)"));
  read_old_shapes(graph);
  read_bools(graph);
  return {};
}

// Where a graph begins and ends, in the graph's order.
struct GraphEnds {
  std::vector<const tf::NodeDef*> placeholders;
  std::vector<std::string> unread;  // nodes that no other node reads, placeholders too
};

GraphEnds ends_of(const tf::GraphDef& graph) {
  std::set<std::string> read;
  for (const auto& node : graph.node()) {
    for (const std::string& input : node.input()) {
      read.insert(input.substr(input.starts_with('^') ? 1 : 0, input.find(':')));
    }
  }
  GraphEnds ends;
  for (const auto& node : graph.node()) {
    if (node.op() == "Placeholder") ends.placeholders.push_back(&node);
    if (!read.contains(node.name())) ends.unread.push_back(node.name());
  }
  return ends;
}

// The nodes that read an input, also by way of others. What training left in the graph, such as the
// state of an optimiser, is none of them.
std::set<std::string> fed_by(const tf::GraphDef& graph, const std::vector<JobInput>& inputs) {
  std::map<std::string, std::vector<const std::string*>> readers;
  for (const auto& node : graph.node()) {
    for (const std::string& input : node.input()) {
      if (!input.starts_with('^')) readers[node_name(input)].push_back(&node.name());
    }
  }
  std::set<std::string> fed;
  std::vector<std::string> open;
  for (const JobInput& input : inputs) open.push_back(input.tensor);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!fed.insert(name).second) continue;
    for (const std::string* reader : readers[name]) open.push_back(*reader);
  }
  return fed;
}

class FrozenGraph final : public ModelGraph {
 public:
  Status open(const EngineJob& job) {
    TFAOT_TRY(read_graph(job.source, graph_));
    label_ = "frozen graph";
    std::set<std::string> input_nodes;
    for (const JobInput& input : job.inputs) input_nodes.insert(node_name(input.tensor));
    TFAOT_TRY(fix_placeholders(graph_, job.constants, input_nodes));
    for (const auto& node : graph_.node()) nodes_[node.name()] = &node;
    for (std::size_t i = 0; i < job.inputs.size(); ++i) {
      TFAOT_ASSIGN(auto tensor, input_tensor(job.inputs[i], fmt::format("model.inputs[{}]", i)));
      inputs_.push_back(std::move(tensor));
    }
    for (std::size_t i = 0; i < job.outputs.size(); ++i) {
      TFAOT_ASSIGN(auto tensor, named_tensor(job.outputs[i], fmt::format("model.outputs[{}]", i)));
      outputs_.push_back(std::move(tensor));
    }
    return {};
  }

  bool shapes_from_config() const override { return true; }

  Result<StoredTensor> variable(const tf::NodeDef& node) override {
    return fail(Error(fmt::format("the graph is not frozen: variable '{}' (op {}) is left in it",
                                  node.name(), node.op()))
                    .note("freeze it (variables to constants), or give the SavedModel instead"));
  }

  Result<std::unique_ptr<tf::Session>> session(const tf::GraphDef& part) override {
    std::unique_ptr<tf::Session> session(tf::NewSession(tf::SessionOptions()));
    const auto status = session->Create(part);
    if (!status.ok()) return fail(error_of(status, "TensorFlow cannot load this graph"));
    return session;
  }

 private:
  Error no_node(const std::string& name, const std::string& key) const {
    std::vector<std::string> names;
    for (const auto& [node, definition] : nodes_) names.push_back(node);
    GraphEnds ends = ends_of(graph_);
    std::vector<std::string> placeholders;
    for (const auto* node : ends.placeholders) placeholders.push_back(node->name());
    std::ranges::sort(placeholders);
    std::ranges::sort(ends.unread);
    Error error = config_fault(key, fmt::format("there is no node '{}'", name));
    if (auto close = closest_match(name, names)) error.note("did you mean '" + *close + "'?");
    if (key.starts_with("model.inputs")) {
      return std::move(error).note(listed("placeholders of the graph", std::move(placeholders)));
    }
    return std::move(error).note(listed("nodes that no other node reads", ends.unread));
  }

  // "x" or "x:0" of a node in the graph; the dtype comes from the op's definition. `key` is the
  // config's.
  Result<ModelTensor> named_tensor(const std::string& tensor, const std::string& key) const {
    const auto colon = tensor.find(':');
    const std::string name = tensor.substr(0, colon);
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return fail(no_node(name, key));
    const int index = colon == std::string::npos ? 0 : std::atoi(tensor.c_str() + colon + 1);
    const tf::OpDef* definition = nullptr;
    tf::DataTypeVector types;
    auto status = tf::OpRegistry::Global()->LookUpOpDef(found->second->op(), &definition);
    if (status.ok()) status = tf::OutputTypesForNode(*found->second, *definition, &types);
    if (!status.ok()) return fail(error_of(status, fmt::format("node '{}'", name)));
    if (index < 0 || static_cast<std::size_t>(index) >= types.size()) {
      return fail(config_fault(key, fmt::format("node '{}' has {} outputs, so there is no '{}'",
                                                name, types.size(), tensor)));
    }
    const std::string own = index == 0 ? name : fmt::format("{}_{}", name, index);
    return ModelTensor{
        own, fmt::format("{}:{}", name, index), types[static_cast<std::size_t>(index)], false, {}};
  }

  Result<ModelTensor> input_tensor(const JobInput& input, const std::string& key) const {
    TFAOT_ASSIGN(auto tensor, named_tensor(input.tensor, key));
    const tf::NodeDef& node = *nodes_.at(tensor.tensor.substr(0, tensor.tensor.find(':')));
    tf::PartialTensorShape shape;
    if (input.has_shape) {
      tensor.rank_known = true;
      tensor.shape = input.shape;
    } else if (tf::GetNodeAttr(node, "shape", &shape).ok() && !shape.unknown_rank()) {
      tensor.rank_known = true;
      for (int i = 0; i < shape.dims(); ++i) tensor.shape.push_back(shape.dim_size(i));
    }
    if (input.dtype && input.dtype != dtype_of(tensor.type)) {
      return fail(
          config_fault(key, fmt::format("input '{}' is {} in the graph, not {}", tensor.name,
                                        type_name(tensor.type), word_of(*input.dtype))));
    }
    return tensor;
  }

  std::map<std::string, const tf::NodeDef*> nodes_;
};

}  // namespace

Result<std::unique_ptr<ModelGraph>> load_frozen_graph(const EngineJob& job) {
  auto model = std::make_unique<FrozenGraph>();
  TFAOT_TRY(model->open(job));
  return std::unique_ptr<ModelGraph>(std::move(model));
}

Result<ModelFunctions> frozen_graph_functions(const std::string& file) {
  tf::GraphDef graph;
  TFAOT_TRY(read_graph(file, graph));
  const GraphEnds ends = ends_of(graph);
  EngineJob job;
  job.format = ModelFormat::kFrozenGraph;
  job.source = file;
  job.constants = likely_constants(ends.placeholders);
  if (job.constants.size() == ends.placeholders.size()) job.constants.clear();  // some are inputs
  for (const auto* node : ends.placeholders) {
    const bool is_input =
        std::ranges::find(job.constants, node->name(), &ModelConstant::name) == job.constants.end();
    if (is_input) job.inputs.push_back({node->name(), {}, false, {}});
  }
  const std::set<std::string> fed = fed_by(graph, job.inputs);
  // Operations without a result, such as NoOp and Assert, are no outputs.
  for (const std::string& name : ends.unread) {
    const auto node = std::ranges::find(graph.node(), name, [](const auto& n) { return n.name(); });
    const tf::OpDef* definition = nullptr;
    const auto known = tf::OpRegistry::Global()->LookUpOpDef(node->op(), &definition);
    const bool is_result = fed.contains(name) && (!known.ok() || definition->output_arg_size() > 0);
    if (is_result && node->op() != "Placeholder") job.outputs.push_back(name);
  }
  return ModelFunctions{"", {std::move(job)}};
}

}  // namespace tfaot::toolkit::engine
