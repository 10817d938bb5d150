// SPDX-License-Identifier: Apache-2.0
#include "loaded_session.h"

#include <fmt/format.h>

#include "conversions.h"
#include "restored_variables.h"
#include "tensorflow/core/common_runtime/device_mgr.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/public/session.h"

namespace tfaot::engine {

namespace tf = tensorflow;

Status LoadedSession::load() {
  if (bundle_.session != nullptr) return {};
  tf::SessionOptions options;
  // The graph is compiled, not run: no optimiser passes over it.
  auto* optimizer = options.config.mutable_graph_options()->mutable_optimizer_options();
  optimizer->set_opt_level(tf::OptimizerOptions::L0);
  options.config.mutable_graph_options()->mutable_rewrite_options()->set_disable_meta_optimizer(
      true);
  const auto status = tf::LoadSavedModel(options, {}, saved_model_, {kServeTag}, &bundle_);
  if (status.ok()) return {};
  return fail(error_of(status, "TensorFlow cannot load this SavedModel"));
}

Result<tf::Tensor> LoadedSession::variable(const tf::NodeDef& node) {
  TFAOT_TRY(load());
  return node.op() == "VarHandleOp" ? resource_variable(node) : reference_variable(node);
}

// Straight from the session's resources: a session call for each variable takes 20 ms.
Result<tf::Tensor> LoadedSession::resource_variable(const tf::NodeDef& node) {
  std::string container;
  tf::GetNodeAttr(node, "container", &container).IgnoreError();
  const tf::DeviceMgr* devices = nullptr;
  auto status = bundle_.session->LocalDeviceManager(&devices);
  if (!status.ok()) return fail(Error::internal(std::string(status.message())));
  const std::string name = resource_name(node);
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
  return fail(error_of(status, fmt::format("variable '{}' has no value", name)));
}

Result<tf::Tensor> LoadedSession::reference_variable(const tf::NodeDef& node) {
  std::vector<tf::Tensor> values;
  const auto status = bundle_.session->Run({}, {node.name()}, {}, &values);
  if (!status.ok()) {
    return fail(error_of(status, fmt::format("variable '{}' has no value", node.name())));
  }
  return values.front();
}

}  // namespace tfaot::engine
