// SPDX-License-Identifier: Apache-2.0
#include "front/graph/model_graph.h"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "compiler/hlo/conversions.h"
#include "front/graph/frozen_graph.h"
#include "front/graph/saved_model_graph.h"
#include "front/lowering/signature_checks.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// "x" and "x:0" are the same tensor.
std::string placeholder_name(const ModelConstant& constant) {
  const std::string& name = constant.name;
  return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
}

tf::DataType dtype_attribute(const tf::NodeDef& node) {
  const auto found = node.attr().find("dtype");
  return found == node.attr().end() ? tf::DT_INVALID : found->second.type();
}

ConstantPlace place_of_placeholder(const tf::NodeDef& node) {
  ConstantPlace place{.type = dtype_attribute(node)};
  tf::PartialTensorShape shape;
  if (!tf::GetNodeAttr(node, "shape", &shape).ok() || shape.unknown_rank()) return place;
  place.rank_known = true;
  for (int i = 0; i < shape.dims(); ++i) place.shape.push_back(shape.dim_size(i));
  return place;
}

Result<tf::Tensor> tensor_of_constant(const ModelConstant& constant, std::size_t index,
                                      const ConstantPlace& place) {
  TFAOT_ASSIGN(const std::string bytes, constant_bytes(constant, index, place));
  tf::TensorShape shape;
  for (const std::int64_t size : constant.shape) shape.AddDim(size);
  tf::Tensor tensor(place.type, shape);
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

void make_constant(tf::NodeDef& node, const tf::Tensor& value) {
  node.set_op("Const");
  node.clear_input();
  node.clear_attr();
  tf::AddNodeAttr("dtype", value.dtype(), &node);
  tf::AddNodeAttr("value", value, &node);
}

}  // namespace

Result<std::unique_ptr<ModelGraph>> ModelGraph::load(const EngineJob& job) {
  TFAOT_ASSIGN(auto model, job.format == ModelFormat::kFrozenGraph ? load_frozen_graph(job)
                                                                   : load_saved_model(job));
  TFAOT_TRY(set_open_sizes(model->inputs_, job));
  return model;
}

bool is_placeholder(const tf::NodeDef& node) {
  return node.op() == "Placeholder" || node.op() == "PlaceholderV2" ||
         node.op() == "PlaceholderWithDefault";
}

void read_old_shapes(tf::GraphDef& graph) {
  constexpr int kFirstWithScalars = 22;
  if (graph.versions().producer() >= kFirstWithScalars) return;
  for (tf::NodeDef& node : *graph.mutable_node()) {
    const auto shape = node.mutable_attr()->find("shape");
    if (node.op() != "Placeholder" || shape == node.mutable_attr()->end()) continue;
    if (shape->second.shape().dim_size() > 0) continue;
    shape->second.mutable_shape()->set_unknown_rank(true);
  }
}

void read_bools(tf::GraphDef& graph) {
  const auto read = [](tf::NodeDef& node) {
    for (auto& [name, value] : *node.mutable_attr()) {
      if (!value.has_tensor() || value.tensor().dtype() != tf::DT_BOOL) continue;
      std::string bytes(value.tensor().tensor_content());
      make_bools(bytes.data(), bytes.size());
      value.mutable_tensor()->set_tensor_content(bytes);
    }
  };
  for (tf::NodeDef& node : *graph.mutable_node()) read(node);
  for (auto& function : *graph.mutable_library()->mutable_function()) {
    for (tf::NodeDef& node : *function.mutable_node_def()) read(node);
  }
}

Status fix_placeholders(tf::GraphDef& graph, const std::vector<ModelConstant>& constants,
                        const std::set<std::string>& inputs) {
  if (constants.empty()) return {};
  std::map<std::string, tf::NodeDef*> placeholders;
  std::set<std::string> names;
  for (tf::NodeDef& node : *graph.mutable_node()) {
    if (!is_placeholder(node)) continue;
    placeholders[node.name()] = &node;
    if (!inputs.contains(node.name())) names.insert(node.name());
  }
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const auto found = placeholders.find(placeholder_name(constants[i]));
    if (found == placeholders.end()) {
      return fail(no_place_for(constants[i], i, "placeholder", names));
    }
    if (inputs.contains(found->first)) {
      return fail(config_fault(
          constant_key(i), fmt::format("'{}' is an input of the model, so it has no fixed value",
                                       constants[i].name)));
    }
    TFAOT_ASSIGN(const tf::Tensor value,
                 tensor_of_constant(constants[i], i, place_of_placeholder(*found->second)));
    make_constant(*found->second, value);
  }
  return {};
}

std::vector<ModelConstant> likely_constants(const std::vector<const tf::NodeDef*>& placeholders) {
  std::vector<ModelConstant> constants;
  for (const tf::NodeDef* const node : placeholders) {
    const ConstantPlace place = place_of_placeholder(*node);
    const auto value = switched_off(place.type);
    const bool is_single = place.rank_known ? place.shape.empty() : place.type == tf::DT_BOOL;
    if (value && is_single) constants.push_back({node->name(), {}, {*value}});
  }
  return constants;
}

}  // namespace tfaot::toolkit::engine
