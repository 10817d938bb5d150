// SPDX-License-Identifier: Apache-2.0
#include "graph/loaded_session.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "graph/loading_graph.h"
#include "graph/restored_variables.h"
#include "lowering/conversions.h"
#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/core/common_runtime/device_mgr.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/path.h"
#include "tensorflow/core/util/tensor_bundle/naming.h"

namespace tfaot::toolkit::engine {

namespace tf = tensorflow;

namespace {

// Adds the nodes and functions that it does not have yet.
void add_graph(tf::GraphDef& graph, const tf::GraphDef& more) {
  std::set<std::string> known;
  for (const auto& node : graph.node()) known.insert(node.name());
  for (const auto& function : graph.library().function()) {
    known.insert("function " + function.signature().name());
  }
  for (const auto& gradient : graph.library().gradient()) {
    known.insert("gradient " + gradient.function_name());
  }
  tf::FunctionDefLibrary& library = *graph.mutable_library();
  for (const auto& node : more.node()) {
    if (!known.contains(node.name())) *graph.add_node() = node;
  }
  for (const auto& function : more.library().function()) {
    if (!known.contains("function " + function.signature().name())) {
      *library.add_function() = function;
    }
  }
  for (const auto& gradient : more.library().gradient()) {
    if (!known.contains("gradient " + gradient.function_name())) {
      *library.add_gradient() = gradient;
    }
  }
}

}  // namespace

Result<std::unique_ptr<tf::Session>> load_session(const SavedModelSource& source,
                                                  const tf::GraphDef& part,
                                                  const tf::SessionOptions& options) {
  TFAOT_ASSIGN(const auto loading, loading_graph(source.model, source.graph));
  tf::GraphDef graph = part;
  *graph.mutable_versions() = loading.graph.versions();
  add_graph(graph, loading.graph);
  std::unique_ptr<tf::Session> session(tf::NewSession(options));
  auto status = session->Create(graph);
  const std::string path = tf::io::JoinPath(source.saved_model, tf::kSavedModelVariablesDirectory,
                                            tf::kSavedModelVariablesFilename);
  std::vector<std::pair<std::string, tf::Tensor>> files;
  if (!loading.file_tensor.empty()) files.emplace_back(loading.file_tensor, tf::Tensor(path));
  const bool has_checkpoint = tf::Env::Default()->FileExists(tf::MetaFilename(path)).ok();
  if (status.ok() && has_checkpoint && !loading.restore.empty()) {
    status = session->Run(files, {}, loading.restore, nullptr);
  }
  if (status.ok() && !loading.initialize.empty()) {
    status = session->Run(files, {}, loading.initialize, nullptr);
  }
  if (!status.ok()) {
    return fail(error_of(status, "TensorFlow cannot load the variables of this SavedModel"));
  }
  return session;
}

Status set_variable(tf::Session& session, const tf::NodeDef& node, const tf::Tensor& value) {
  const tf::DeviceMgr* devices = nullptr;
  auto status = session.LocalDeviceManager(&devices);
  if (!status.ok()) return fail(Error::internal(std::string(status.message())));
  tf::ResourceMgr* const resources = devices->ListDevices().front()->resource_manager();
  std::string container;
  tf::GetNodeAttr(node, "container", &container).IgnoreError();
  if (container.empty()) container = resources->default_container();
  auto* const variable = new tf::Var(value.dtype());  // the manager takes it
  *variable->tensor() = value;
  variable->is_initialized = true;
  status = resources->Create(container, resource_name(node), variable);
  if (status.ok()) return {};
  return fail(error_of(status, fmt::format("variable '{}' cannot be set", node.name())));
}

Status LoadedSession::load() {
  if (session_ != nullptr) return {};
  tf::SessionOptions options;
  // The graph is compiled, not run: no optimiser processes it.
  auto* graph_options = options.config.mutable_graph_options();
  graph_options->mutable_optimizer_options()->set_opt_level(tf::OptimizerOptions::L0);
  graph_options->mutable_rewrite_options()->set_disable_meta_optimizer(true);
  TFAOT_ASSIGN(session_, load_session(source_, {}, options));
  return {};
}

Result<tf::Tensor> LoadedSession::variable(const tf::NodeDef& node) {
  TFAOT_TRY(load());
  return node.op() == "VarHandleOp" ? resource_variable(node) : reference_variable(node);
}

// Directly from the session's resources: a session call for each variable takes 20 ms.
Result<tf::Tensor> LoadedSession::resource_variable(const tf::NodeDef& node) {
  std::string container;
  tf::GetNodeAttr(node, "container", &container).IgnoreError();
  const tf::DeviceMgr* devices = nullptr;
  auto status = session_->LocalDeviceManager(&devices);
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
  const auto status = session_->Run({}, {node.name()}, {}, &values);
  if (!status.ok()) {
    return fail(error_of(status, fmt::format("variable '{}' has no value", node.name())));
  }
  return values.front();
}

}  // namespace tfaot::toolkit::engine
