// SPDX-License-Identifier: Apache-2.0
#include "saved_model_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "checkpoint.h"
#include "conversions.h"
#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/cc/saved_model/reader.h"
#include "tensorflow/core/common_runtime/device_mgr.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/public/session.h"
#include "tfaot/base/text.h"

namespace tfaot::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kServeTag = "serve";

Result<GraphTensor> graph_tensor(const std::string& kind, const std::string& key,
                                 const tf::TensorInfo& info) {
  if (info.name().empty()) {
    return fail(Error(fmt::format("{} '{}' is not a plain dense tensor", kind, key))
                    .note("sparse and composite tensors cannot be compiled; pass their parts as "
                          "inputs of their own"));
  }
  GraphTensor tensor{key, info.name(), info.dtype(), !info.tensor_shape().unknown_rank(), {}};
  for (const auto& dimension : info.tensor_shape().dim()) tensor.shape.push_back(dimension.size());
  return tensor;
}

Result<std::vector<GraphTensor>> graph_tensors(
    const std::string& kind, const google::protobuf::Map<std::string, tf::TensorInfo>& infos) {
  const std::map<std::string, tf::TensorInfo> sorted(infos.begin(), infos.end());
  std::vector<GraphTensor> tensors;
  for (const auto& [key, info] : sorted) {
    TFAOT_ASSIGN(auto tensor, graph_tensor(kind, key, info));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Error unknown_signature(const EngineJob& job, const tf::MetaGraphDef& meta_graph) {
  std::vector<std::string> keys;
  for (const auto& [key, signature] : meta_graph.signature_def()) {
    if (key != "__saved_model_init_op" && key != "__saved_model_train_op") keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  Error error(fmt::format("there is no signature '{}'", job.serving_key));
  error.note(keys.empty() ? "the SavedModel has no signatures; save it with signatures=..."
                          : fmt::format("signatures: {}", join(keys, ", ")));
  if (auto close = closest_match(job.serving_key, keys)) {
    error.note(fmt::format("did you mean '{}'? Set model.serving_key", *close));
  }
  return error;
}

class SavedModelGraph final : public ModelGraph {
 public:
  Status open(const EngineJob& job) {
    source_ = job.source;
    tf::SessionOptions options;
    // The graph is compiled, not run: no optimiser passes over it.
    auto* optimizer = options.config.mutable_graph_options()->mutable_optimizer_options();
    optimizer->set_opt_level(tf::OptimizerOptions::L0);
    options.config.mutable_graph_options()->mutable_rewrite_options()->set_disable_meta_optimizer(
        true);
    const auto status = tf::LoadSavedModel(options, {}, job.source, {kServeTag}, &bundle_);
    if (!status.ok()) {
      return fail(error_of(status, "TensorFlow cannot load this SavedModel"));
    }
    const auto& signatures = bundle_.meta_graph_def.signature_def();
    const auto found = signatures.find(job.serving_key);
    if (found == signatures.end()) {
      return fail(unknown_signature(job, bundle_.meta_graph_def));
    }
    label_ = fmt::format("signature '{}'", job.serving_key);
    TFAOT_ASSIGN(inputs_, graph_tensors("input", found->second.inputs()));
    TFAOT_ASSIGN(outputs_, graph_tensors("output", found->second.outputs()));
    graph_ = bundle_.meta_graph_def.graph_def();
    return {};
  }

  Result<tf::Tensor> variable(const tf::NodeDef& node) const override {
    return node.op() == "VarHandleOp" ? resource_variable(node) : reference_variable(node);
  }

 private:
  // Straight from the session's resources: a session call for each variable takes 20 ms.
  Result<tf::Tensor> resource_variable(const tf::NodeDef& node) const {
    std::string container;
    std::string name;
    tf::GetNodeAttr(node, "container", &container).IgnoreError();
    tf::GetNodeAttr(node, "shared_name", &name).IgnoreError();
    if (name.empty()) name = node.name();

    const tf::DeviceMgr* devices = nullptr;
    auto status = bundle_.session->LocalDeviceManager(&devices);
    if (!status.ok()) return fail(Error::internal(std::string(status.message())));
    for (tf::Device* device : devices->ListDevices()) {
      tf::ResourceMgr* resources = device->resource_manager();
      if (container.empty()) container = resources->default_container();
      tf::Var* found = nullptr;
      status = resources->Lookup(container, name, &found);
      if (!status.ok()) continue;
      const tf::core::RefCountPtr<tf::Var> variable(found);
      tf::tf_shared_lock lock(*variable->mu());
      return *variable->tensor();
    }
    return checkpoint_value(source_, name);
  }

  Result<tf::Tensor> reference_variable(const tf::NodeDef& node) const {
    std::vector<tf::Tensor> values;
    const auto status = bundle_.session->Run({}, {node.name()}, {}, &values);
    if (!status.ok()) {
      return fail(error_of(status, fmt::format("variable '{}' has no value", node.name())));
    }
    return values.front();
  }

  std::string source_;  // the SavedModel folder
  tf::SavedModelBundle bundle_;
};

}  // namespace

Result<std::unique_ptr<ModelGraph>> load_saved_model(const EngineJob& job) {
  auto model = std::make_unique<SavedModelGraph>();
  TFAOT_TRY(model->open(job));
  return std::unique_ptr<ModelGraph>(std::move(model));
}

}  // namespace tfaot::engine
