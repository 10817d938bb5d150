// SPDX-License-Identifier: Apache-2.0
#include "front/graph/model_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "compiler/hlo/conversions.h"
#include "front/graph/diagnosis.h"
#include "front/graph/graph_lowering.h"
#include "front/graph/graph_nodes.h"
#include "front/graph/safe_graph.h"
#include "front/graph/signature_function.h"
#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/core/common_runtime/device_mgr.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/path.h"
#include "tensorflow/core/public/version.h"
#include "tensorflow/core/util/tensor_bundle/naming.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// Operations with state that act on nothing but the session's own variables and arrays, or that
// call functions of the graph. Sorted. Before you add one, read its kernel.
constexpr std::string_view kActingInside =
    "Assert Case CheckNumerics DeviceIndex If ReadVariableOp ResourceGather ResourceGatherNd "
    "Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2 StackV2 "
    "StatefulPartitionedCall StatelessRandomGetAlg TensorArrayCloseV3 TensorArrayConcatV3 "
    "TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3 TensorArrayScatterV3 "
    "TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3 VarHandleOp "
    "VarIsInitializedOp Variable VariableShape VariableV2 While XlaCallModule";

bool runs_safely(const std::string& operation) {
  return is_pure(operation) || connects(operation) || draws_random_numbers(operation) ||
         is_listed(kActingInside, operation);
}

GraphRules rules_for_running(const std::string& label) {
  const auto refuse = [label](const std::vector<BlamedNode>& nodes) {
    Error error(fmt::format("{} cannot be run in TensorFlow's session: {} may do more than compute",
                            label, nodes.front().text));
    for (std::size_t i = 1; i < nodes.size(); ++i) error.note("and " + nodes[i].text);
    return error;
  };
  return {runs_safely, refuse};
}

void make_placeholder(tf::NodeDef& node, tf::DataType type) {
  node.set_op("Placeholder");
  node.clear_attr();
  tf::AddNodeAttr("dtype", type, &node);
}

// A copy of the model's own node: of a variable, another node for the same one.
void make_weight(tf::NodeDef& node, const tf::NodeDef& original) {
  const std::string name = node.name();
  node = original;
  node.set_name(name);
  node.clear_input();
  node.clear_device();
  if (is_variable(node)) {
    (*node.mutable_attr())["shared_name"].set_s(resource_name(original));
  }
}

// The graph that a session runs: placeholders and the weights' own nodes instead of _Arg, Identity
// instead of _Retval.
void make_runnable(tf::GraphDef& cut, const ModelGraph& model,
                   const std::vector<WeightArgument>& weights, std::vector<std::string>& inputs,
                   std::vector<std::string>& outputs) {
  const Nodes originals = nodes_of(model.graph().node());
  inputs.resize(model.inputs().size());
  outputs.resize(model.outputs().size());
  for (tf::NodeDef& node : *cut.mutable_node()) {
    const auto index = [&node] { return static_cast<std::size_t>(node.attr().at("index").i()); };
    if (node.op() == "_Arg" && index() < inputs.size()) {
      inputs[index()] = node.name();
      make_placeholder(node, node.attr().at("T").type());
    } else if (node.op() == "_Arg") {
      make_weight(node, *originals.at(weights[index() - inputs.size()].name));
    } else if (node.op() == "_Retval") {
      outputs[index()] = node.name();
      node.set_op("Identity");
      node.mutable_attr()->erase("index");
    }
    node.mutable_attr()->erase("_class");  // names nodes that were cut off
  }
}

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

class SessionProgram final : public OriginalProgram {
 public:
  SessionProgram(ModelSession session, Signature signature, std::int64_t fixed_rows)
      : session_(std::move(session)), signature_(std::move(signature)), fixed_rows_(fixed_rows) {}

  std::string name() const override { return std::string("tensorflow ") + TF_VERSION_STRING; }
  const Signature& signature() const override { return signature_; }
  std::int64_t fixed_rows() const override { return fixed_rows_; }
  Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                              std::chrono::seconds limit) override {
    return session_.run(inputs, limit);
  }

 private:
  ModelSession session_;
  Signature signature_;
  std::int64_t fixed_rows_;
};

}  // namespace

Result<ModelSession> ModelSession::open(ModelGraph& model) {
  TFAOT_ASSIGN(CutGraph cut, cut_graph(model, {}));
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  make_runnable(cut.graph, model, cut.weights, inputs, outputs);
  TFAOT_TRY(make_safe(cut.graph, rules_for_running(model.label())));
  TFAOT_ASSIGN(auto session, model.session(cut.graph));
  return ModelSession(std::move(session), std::move(inputs), std::move(outputs));
}

Result<std::vector<tf::Tensor>> ModelSession::run(const std::vector<tf::Tensor>& inputs,
                                                  std::chrono::seconds limit) {
  std::vector<std::pair<std::string, tf::Tensor>> fed;
  for (std::size_t i = 0; i < inputs.size(); ++i) fed.emplace_back(inputs_[i], inputs[i]);
  tf::RunOptions options;
  options.set_timeout_in_ms(std::chrono::milliseconds(limit).count());
  std::vector<tf::Tensor> outputs;
  const auto status = session_->Run(options, fed, outputs_, {}, &outputs, nullptr);
  if (status.ok()) return outputs;
  if (absl::IsDeadlineExceeded(status)) {
    return fail(Error(fmt::format("TensorFlow did not end within {} s", limit.count())));
  }
  return fail(Error(status_note(status)));
}

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

Result<std::unique_ptr<OriginalProgram>> load_session_program(const EngineJob& job) {
  TFAOT_ASSIGN(auto model, ModelGraph::load(job));
  TFAOT_ASSIGN(const auto function, make_signature_function(*model));
  LoweringOptions options;
  options.fixed_shapes = job.fixed_shapes;
  TFAOT_ASSIGN(const auto lowering, GraphLowering::create(*model, function, options));
  TFAOT_ASSIGN(auto lowered, lowering->lower(job.batch_sizes.front()));
  TFAOT_ASSIGN(auto session, ModelSession::open(*model));
  std::int64_t fixed_rows = job.fixed_shapes ? 1 : 0;
  for (const ModelTensor& input : model->inputs()) {
    if (!job.fixed_shapes) fixed_rows = std::max(fixed_rows, input.shape.front());
  }
  return std::make_unique<SessionProgram>(
      std::move(session),
      Signature{job.serving_key, std::move(lowered.inputs), std::move(lowered.outputs)},
      fixed_rows);
}

}  // namespace tfaot::toolkit::engine
