// SPDX-License-Identifier: Apache-2.0
#include "frozen_graph.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "conversions.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/platform/env.h"
#include "tfaot/base/text.h"

namespace tfaot::engine {
namespace {

namespace tf = tensorflow;

class FrozenGraph final : public ModelGraph {
 public:
  Status open(const EngineJob& job) {
    const auto status = job.source.ends_with(".pbtxt")
                            ? tf::ReadTextProto(tf::Env::Default(), job.source, &graph_)
                            : tf::ReadBinaryProto(tf::Env::Default(), job.source, &graph_);
    if (!status.ok()) {
      return fail(error_of(status, "not a frozen graph (GraphDef)"));
    }
    label_ = "frozen graph";
    for (const auto& node : graph_.node()) nodes_[node.name()] = &node;
    for (const auto& input : job.inputs) {
      TFAOT_ASSIGN(auto tensor, input_tensor(input));
      inputs_.push_back(std::move(tensor));
    }
    for (const auto& output : job.outputs) {
      TFAOT_ASSIGN(auto tensor, named_tensor(output));
      outputs_.push_back(std::move(tensor));
    }
    return {};
  }

  Result<StoredTensor> variable(const tf::NodeDef& node) override {
    return fail(Error(fmt::format("the graph is not frozen: variable '{}' (op {}) is left in it",
                                  node.name(), node.op()))
                    .note("freeze it (variables to constants), or give the SavedModel instead"));
  }

 private:
  // "x" or "x:0" of a node in the graph; the dtype is what the op's definition says.
  Result<GraphTensor> named_tensor(const std::string& tensor) const {
    const auto colon = tensor.find(':');
    const std::string name = tensor.substr(0, colon);
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) {
      std::vector<std::string> names;
      for (const auto& [node, definition] : nodes_) names.push_back(node);
      Error error(fmt::format("there is no node '{}'", name));
      if (auto close = closest_match(name, names)) error.note("did you mean '" + *close + "'?");
      return fail(std::move(error));
    }
    const int index = colon == std::string::npos ? 0 : std::atoi(tensor.c_str() + colon + 1);
    const tf::OpDef* definition = nullptr;
    tf::DataTypeVector types;
    auto status = tf::OpRegistry::Global()->LookUpOpDef(found->second->op(), &definition);
    if (status.ok()) status = tf::OutputTypesForNode(*found->second, *definition, &types);
    if (!status.ok()) return fail(error_of(status, fmt::format("node '{}'", name)));
    if (index < 0 || static_cast<std::size_t>(index) >= types.size()) {
      return fail(Error(fmt::format("node '{}' has {} outputs, so there is no '{}'", name,
                                    types.size(), tensor)));
    }
    const std::string key = index == 0 ? name : fmt::format("{}_{}", name, index);
    return GraphTensor{
        key, fmt::format("{}:{}", name, index), types[static_cast<std::size_t>(index)], false, {}};
  }

  Result<GraphTensor> input_tensor(const JobInput& input) const {
    TFAOT_ASSIGN(auto tensor, named_tensor(input.tensor));
    const tf::NodeDef& node = *nodes_.at(tensor.tensor.substr(0, tensor.tensor.find(':')));
    tf::PartialTensorShape shape;
    if (input.has_shape) {
      tensor.rank_known = true;
      tensor.shape = input.shape;
    } else if (tf::GetNodeAttr(node, "shape", &shape).ok() && !shape.unknown_rank()) {
      tensor.rank_known = true;
      for (int i = 0; i < shape.dims(); ++i) tensor.shape.push_back(shape.dim_size(i));
    }
    if (!input.dtype.empty() && input.dtype != type_name(tensor.type)) {
      return fail(Error(fmt::format("input '{}' is {} in the graph, but the config says {}",
                                    tensor.name, type_name(tensor.type), input.dtype)));
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

}  // namespace tfaot::engine
