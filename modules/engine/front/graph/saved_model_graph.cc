// SPDX-License-Identifier: Apache-2.0
#include "front/graph/saved_model_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/hlo/conversions.h"
#include "front/graph/graph_nodes.h"
#include "front/graph/model_session.h"
#include "front/graph/variables.h"
#include "front/lowering/signature_checks.h"
#include "tensorflow/cc/saved_model/reader.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

Result<ModelTensor> graph_tensor(const std::string& kind, const std::string& key,
                                 const tf::TensorInfo& info) {
  if (info.name().empty()) {
    return fail(Error(fmt::format("{} '{}' is not a plain dense tensor", kind, key))
                    .note("sparse and composite tensors cannot be compiled; pass their parts as "
                          "separate inputs"));
  }
  ModelTensor tensor{key, info.name(), info.dtype(), !info.tensor_shape().unknown_rank(), {}};
  for (const auto& dimension : info.tensor_shape().dim()) tensor.shape.push_back(dimension.size());
  return tensor;
}

Result<std::vector<ModelTensor>> graph_tensors(
    const std::string& kind, const google::protobuf::Map<std::string, tf::TensorInfo>& infos) {
  const std::map<std::string, tf::TensorInfo> sorted(infos.begin(), infos.end());
  std::vector<ModelTensor> tensors;
  for (const auto& [key, info] : sorted) {
    TFAOT_ASSIGN(auto tensor, graph_tensor(kind, key, info));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Status read_meta_graph(const std::string& folder, tf::MetaGraphDef& model) {
  const auto status = tf::ReadMetaGraphDefFromSavedModel(folder, {kServeTag}, &model);
  if (!status.ok()) return fail(error_of(status, "TensorFlow cannot load this SavedModel"));
  read_old_shapes(*model.mutable_graph_def());
  read_bools(*model.mutable_graph_def());
  return {};
}

// Without those that loading and training use. Sorted.
std::vector<std::string> signature_keys(const tf::MetaGraphDef& model) {
  std::vector<std::string> keys;
  for (const auto& [key, signature] : model.signature_def()) {
    if (key != "__saved_model_init_op" && key != "__saved_model_train_op") keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

Error unknown_signature(const EngineJob& job, const tf::MetaGraphDef& meta_graph) {
  const std::vector<std::string> keys = signature_keys(meta_graph);
  Error error =
      config_fault("model.serving_key", fmt::format("there is no signature '{}'", job.serving_key));
  error.note(keys.empty() ? "the SavedModel has no signatures; save it with signatures=..."
                          : fmt::format("the signatures of {}: {}", job.source, join(keys, ", ")));
  if (auto close = closest_match(job.serving_key, keys)) {
    error.note(fmt::format("did you mean '{}'?", *close));
  }
  return error;
}

// Nodes that a signature of a TensorFlow 1 model needs in addition to its inputs.
std::vector<ModelConstant> needed_constants(const tf::GraphDef& graph,
                                            const tf::SignatureDef& signature) {
  Nodes nodes = nodes_of(graph.node());
  for (const auto& [key, input] : signature.inputs()) nodes.erase(node_name(input.name()));
  Nodes placeholders;
  for (const auto& [key, output] : signature.outputs()) {
    for (const auto* node : needed_by(nodes, output.name())) {
      if (node->op() == "Placeholder") placeholders[node->name()] = node;
    }
  }
  std::vector<const tf::NodeDef*> sorted;
  for (const auto& [name, node] : placeholders) sorted.push_back(node);
  return likely_constants(sorted);
}

class SavedModelGraph final : public ModelGraph {
 public:
  explicit SavedModelGraph(const std::string& folder)
      : folder_(folder), checkpoint_(folder), session_(folder, model_, graph_) {}

  Status open(const EngineJob& job) {
    TFAOT_TRY(read_meta_graph(job.source, model_));
    const auto found = model_.signature_def().find(job.serving_key);
    if (found == model_.signature_def().end()) return fail(unknown_signature(job, model_));
    label_ = fmt::format("signature '{}'", job.serving_key);
    TFAOT_ASSIGN(inputs_, graph_tensors("input", found->second.inputs()));
    TFAOT_ASSIGN(outputs_, graph_tensors("output", found->second.outputs()));
    restored_ = restored_variables(model_);
    captured_ = captured_variables(model_);
    graph_ = std::move(*model_.mutable_graph_def());
    std::set<std::string> input_nodes;
    for (const ModelTensor& input : inputs_) input_nodes.insert(node_name(input.tensor));
    return fix_placeholders(graph_, job.constants, input_nodes);
  }

  Result<StoredTensor> variable(const tf::NodeDef& node) override {
    const std::string name = resource_name(node);
    if (restored_.others.contains(name)) {
      TFAOT_ASSIGN(auto value, session_.variable(node));
      return stored(std::move(value));
    }
    return checkpoint_.value(name, key_of(name));
  }

  // Of a Keras 3 model saved by tf.saved_model.save(), TensorFlow's loader fills other variables
  // than those that the signature reads. They are in the checkpoint.
  Result<std::unique_ptr<tf::Session>> session(const tf::GraphDef& part) override {
    TFAOT_ASSIGN(auto session, load_session({folder_, model_, graph_}, part, tf::SessionOptions()));
    for (const auto& node : part.node()) {
      if (node.op() != "VarHandleOp") continue;
      const std::string name = resource_name(node);
      if (restored_.keys.contains(name) || restored_.others.contains(name)) continue;
      TFAOT_ASSIGN(const StoredTensor stored, checkpoint_.value(name, key_of(name)));
      TFAOT_ASSIGN(const tf::Tensor value, stored.read());
      TFAOT_TRY(set_variable(*session, node, value));
    }
    return session;
  }

 private:
  // In the checkpoint. Keras 3 models saved by tf.saved_model.save() contain variables that only
  // Python's loader fills: it goes by the objects that functions captured. A variable of TensorFlow
  // 1 is stored under its name.
  std::string key_of(const std::string& name) {
    const auto restored = restored_.keys.find(name);
    if (restored != restored_.keys.end()) return restored->second;
    const auto object = captured_.find(name);
    if (object != captured_.end()) {
      if (object_keys_.empty()) {
        object_keys_ = keys_of_objects(model_.object_graph_def(), checkpoint_.objects());
      }
      const auto key = object_keys_.find(object->second);
      if (key != object_keys_.end()) return key->second;
    }
    return key_of_name(checkpoint_.objects(), name).value_or(name);
  }

  std::string folder_;
  tf::MetaGraphDef model_;  // its graph is graph_
  RestoredVariables restored_;
  std::map<std::string, int> captured_;  // objects by the names of their variables
  std::map<int, std::string> object_keys_;
  Checkpoint checkpoint_;
  LoadedSession session_;
};

}  // namespace

Result<std::unique_ptr<ModelGraph>> load_saved_model(const EngineJob& job) {
  auto model = std::make_unique<SavedModelGraph>(job.source);
  TFAOT_TRY(model->open(job));
  return std::unique_ptr<ModelGraph>(std::move(model));
}

Result<ModelFunctions> saved_model_functions(const std::string& folder) {
  tf::MetaGraphDef model;
  TFAOT_TRY(read_meta_graph(folder, model));
  ModelFunctions functions;
  const std::string& version = model.meta_info_def().tensorflow_version();
  if (!version.empty()) functions.producer = "tensorflow " + version;
  for (const std::string& key : signature_keys(model)) {
    EngineJob job;
    job.source = folder;
    job.serving_key = key;
    job.constants = needed_constants(model.graph_def(), model.signature_def().at(key));
    functions.jobs.push_back(std::move(job));
  }
  return functions;
}

}  // namespace tfaot::toolkit::engine
