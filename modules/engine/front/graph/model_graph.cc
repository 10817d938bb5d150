// SPDX-License-Identifier: Apache-2.0
#include "front/graph/model_graph.h"

#include <fmt/format.h>

#include <cstring>

#include "compiler/hlo/conversions.h"
#include "front/graph/safe_graph.h"
#include "front/lowering/signature.h"
#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/cc/saved_model/reader.h"
#include "tensorflow/core/common_runtime/device_mgr.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/graph/tensor_id.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/path.h"
#include "tensorflow/core/util/tensor_bundle/naming.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kValue = "VARIABLE_VALUE";

// Null if there is none.
template <class Node>
const Node* object_at(const google::protobuf::RepeatedPtrField<Node>& nodes, int number) {
  return number >= 0 && number < nodes.size() ? &nodes.Get(number) : nullptr;
}

// The string at an index of a constant.
std::optional<std::string> text_at(const tf::NodeDef* node, int index) {
  if (node == nullptr || node->op() != "Const") return {};
  const tf::TensorProto& proto = attribute_of(*node, "value").tensor();
  tf::Tensor value;
  const bool is_text = proto.dtype() == tf::DT_STRING && value.FromProto(proto);
  if (!is_text || index < 0 || index >= value.NumElements()) return {};
  return std::string(value.flat<tf::tstring>()(index));
}

// The checkpoint key of a restored value; nothing if only a part of the tensor is restored, or if
// the value comes from elsewhere.
std::optional<std::string> key_behind(const Nodes& nodes, std::string input) {
  const tf::NodeDef* node = find_node(nodes, input);
  std::set<const tf::NodeDef*> seen;
  while (node != nullptr && node->op() == "Identity" && node->input_size() > 0) {
    if (!seen.insert(node).second) return {};  // a graph may have any form
    input = node->input(0);
    node = find_node(nodes, input);
  }
  if (node == nullptr || node->op() != "RestoreV2" || node->input_size() < 3) return {};
  const int index = tf::ParseTensorName(input).index();
  const auto part = text_at(find_node(nodes, node->input(2)), index);
  if (!part || !part->empty()) return {};
  return text_at(find_node(nodes, node->input(1)), index);
}

// The name by which TensorFlow's sessions know the variable of a VarHandleOp or VariableV2 node.
std::string resource_name(const tf::NodeDef& node) {
  std::string name;
  tf::GetNodeAttr(node, "shared_name", &name).IgnoreError();
  return name.empty() ? node.name() : name;
}

class RestoreReader {
 public:
  explicit RestoreReader(const tf::MetaGraphDef& model) {
    graph_ = nodes_of(model.graph_def().node());
    functions_ = functions_of(model.graph_def().library());
    const auto restoring = needed_by(graph_, {model.saver_def().restore_op_name()});
    add_others(restoring);
    visit(restoring, graph_);
    for (const auto* node : restoring) visit_call(*node);
    add_others(needed_by(graph_, init_operations(model)));
    for (const auto& name : found_.others) found_.keys.erase(name);
  }

  RestoredVariables take() { return std::move(found_); }

 private:
  void add_others(const std::vector<const tf::NodeDef*>& nodes) {
    for (const auto* node : nodes) {
      if (is_variable(*node)) found_.others.insert(resource_name(*node));
    }
  }

  void visit(const std::vector<const tf::NodeDef*>& operations, const Nodes& nodes) {
    for (const auto* node : operations) {
      if ((node->op() != "AssignVariableOp" && node->op() != "Assign") || node->input_size() < 2) {
        continue;
      }
      const tf::NodeDef* variable = find_node(nodes, node->input(0));
      const auto key = key_behind(nodes, node->input(1));
      if (variable == nullptr || !is_variable(*variable) || !key) continue;
      const std::string name = resource_name(*variable);
      const auto [known, is_new] = found_.keys.try_emplace(name, *key);
      if (is_new) found_.others.erase(name);
      if (known->second != *key) found_.others.insert(name);
    }
  }

  void visit_call(const tf::NodeDef& node) {
    if (!is_call(node)) return;
    const auto found = functions_.find(attribute_of(node, "f").func().name());
    if (found == functions_.end()) return;
    Nodes body;
    std::vector<const tf::NodeDef*> operations;
    for (int i = 0; i < found->second->signature().input_arg_size() && i < node.input_size(); ++i) {
      body[found->second->signature().input_arg(i).name()] = find_node(graph_, node.input(i));
    }
    for (const auto& inner : found->second->node_def()) {
      body[inner.name()] = &inner;
      operations.push_back(&inner);
    }
    visit(operations, body);
  }

  Nodes graph_;
  Functions functions_;
  RestoredVariables found_;
};

constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

Error no_value(const absl::Status& status, const std::string& variable) {
  return error_of(status, fmt::format("variable '{}' has no value", variable));
}

// "x" and "x:0" are the same tensor.
std::string placeholder_name(const ModelConstant& constant) {
  const std::string& name = constant.name;
  return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
}

ConstantPlace place_of_placeholder(const tf::NodeDef& node) {
  ConstantPlace place{.type = dtype_attribute(node)};
  tf::PartialTensorShape shape;
  if (!tf::GetNodeAttr(node, "shape", &shape).ok() || shape.unknown_rank()) return place;
  place.rank_known = true;
  const auto sizes = shape.dim_sizes();
  place.shape.assign(sizes.begin(), sizes.end());
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

Status read_graph(const std::string& file, tf::GraphDef& graph) {
  TFAOT_TRY(checked(file.ends_with(".pbtxt")
                        ? tf::ReadTextProto(tf::Env::Default(), file, &graph)
                        : tf::ReadBinaryProto(tf::Env::Default(), file, &graph),
                    "not a frozen graph (GraphDef)"));
  read_old_shapes(graph);
  read_bools(graph);
  return {};
}

// The ends of a graph, in the graph's order.
struct GraphEnds {
  std::vector<const tf::NodeDef*> placeholders;
  std::vector<std::string> unread;  // nodes that no other node reads, placeholders too
};

GraphEnds ends_of(const tf::GraphDef& graph) {
  std::set<std::string> read;
  for (const auto& node : graph.node()) {
    for (const std::string& input : node.input()) read.insert(node_name(input));
  }
  GraphEnds ends;
  for (const auto& node : graph.node()) {
    if (node.op() == "Placeholder") ends.placeholders.push_back(&node);
    if (!read.contains(node.name())) ends.unread.push_back(node.name());
  }
  return ends;
}

// The nodes that depend on an input. Leftovers of training, such as the state of an optimiser, do
// not.
std::set<std::string> fed_by(const tf::GraphDef& graph, const std::vector<JobInput>& inputs) {
  std::map<std::string, std::vector<const std::string*>> readers;
  for (const auto& node : graph.node()) {
    for (const std::string& input : node.input()) {
      if (!input.starts_with('^')) readers[node_name(input)].push_back(&node.name());
    }
  }
  std::set<std::string> fed;
  std::vector<std::string> open = mapped(inputs, &JobInput::tensor);
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
  Status open(const JobModel& job) override {
    TFAOT_TRY(read_graph(job.source, graph_));
    label_ = "frozen graph";
    std::set<std::string> input_nodes;
    for (const JobInput& input : job.inputs) input_nodes.insert(node_name(input.tensor));
    TFAOT_TRY(fix_placeholders(graph_, job.constants, input_nodes));
    nodes_ = nodes_of(graph_.node());
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
    TFAOT_TRY(checked(session->Create(part), "TensorFlow cannot load this graph"));
    return session;
  }

 private:
  Error no_node(const std::string& name, const std::string& key) const {
    const auto names = mapped(nodes_, &Nodes::value_type::first);
    GraphEnds ends = ends_of(graph_);
    auto placeholders = mapped(ends.placeholders, &tf::NodeDef::name);
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
    const tf::SafeTensorId id = tf::ParseTensorName(tensor);
    const auto& [name, index] = id;
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return fail(no_node(name, key));
    const tf::OpDef* definition = nullptr;
    tf::DataTypeVector types;
    auto status = tf::OpRegistry::Global()->LookUpOpDef(found->second->op(), &definition);
    if (status.ok()) status = tf::OutputTypesForNode(*found->second, *definition, &types);
    TFAOT_TRY(checked(status, fmt::format("node '{}'", name)));
    if (index < 0 || static_cast<std::size_t>(index) >= types.size()) {
      return fail(config_fault(key, fmt::format("node '{}' has {} outputs, so there is no '{}'",
                                                name, types.size(), tensor)));
    }
    const std::string own = index == 0 ? name : fmt::format("{}_{}", name, index);
    return ModelTensor{own, fmt::format("{}:{}", name, index), entry(types, index), false, {}};
  }

  Result<ModelTensor> input_tensor(const JobInput& input, const std::string& key) const {
    TFAOT_ASSIGN(auto tensor, named_tensor(input.tensor, key));
    const ConstantPlace own = place_of_placeholder(*nodes_.at(node_name(tensor.tensor)));
    tensor.rank_known = input.has_shape || own.rank_known;
    tensor.shape = input.has_shape ? input.shape : own.shape;
    if (input.dtype && input.dtype != dtype_of(tensor.type)) {
      return fail(
          config_fault(key, fmt::format("input '{}' is {} in the graph, not {}", tensor.name,
                                        type_name(tensor.type), word_of(*input.dtype))));
    }
    return tensor;
  }

  Nodes nodes_;
};

// The tag of a SavedModel's graph for inference.
constexpr const char* kServeTag = "serve";

template <typename Field, typename NameOf>
void add_missing(Field& to, const Field& from, const NameOf& name_of) {
  std::set<std::string> known;
  for (const auto& one : to) known.insert(name_of(one));
  for (const auto& one : from) {
    if (!known.contains(name_of(one))) *to.Add() = one;
  }
}

// Adds the nodes and functions that the graph lacks.
void add_graph(tf::GraphDef& graph, const tf::GraphDef& more) {
  tf::FunctionDefLibrary& library = *graph.mutable_library();
  add_missing(*graph.mutable_node(), more.node(), [](const auto& node) { return node.name(); });
  add_missing(*library.mutable_function(), more.library().function(),
              [](const auto& function) { return function.signature().name(); });
  add_missing(*library.mutable_gradient(), more.library().gradient(),
              [](const auto& gradient) { return gradient.function_name(); });
}

// The session's variables in the container of a VarHandleOp node.
struct SessionVariables {
  tf::ResourceMgr* manager;
  std::string container;
};
Result<SessionVariables> variables_around(tf::Session& session, const tf::NodeDef& node) {
  const tf::DeviceMgr* devices = nullptr;
  TFAOT_TRY(checked(session.LocalDeviceManager(&devices)));
  SessionVariables found{devices->ListDevices().front()->resource_manager(), ""};
  tf::GetNodeAttr(node, "container", &found.container).IgnoreError();
  if (found.container.empty()) found.container = found.manager->default_container();
  return found;
}

// Sets a variable that has no value yet. REQUIRES: the node is a VarHandleOp.
Status set_variable(tf::Session& session, const tf::NodeDef& node, const tf::Tensor& value) {
  TFAOT_ASSIGN(const SessionVariables around, variables_around(session, node));
  auto* const variable = new tf::Var(value.dtype());  // the manager takes it
  *variable->tensor() = value;
  variable->is_initialized = true;
  return checked(around.manager->Create(around.container, resource_name(node), variable),
                 fmt::format("variable '{}' cannot be set", node.name()));
}

// The value of a VarHandleOp or VariableV2 node; shares memory with the session. That of a
// VarHandleOp is taken from the session's resources, since a session call takes 20 ms.
Result<tf::Tensor> variable_in(tf::Session& session, const tf::NodeDef& node) {
  const bool is_resource = node.op() == "VarHandleOp";
  const std::string name = is_resource ? resource_name(node) : node.name();
  if (!is_resource) {
    std::vector<tf::Tensor> values;
    const auto status = session.Run({}, {name}, {}, &values);
    return status.ok() ? Result<tf::Tensor>(values.front()) : fail(no_value(status, name));
  }
  TFAOT_ASSIGN(const SessionVariables around, variables_around(session, node));
  tf::Var* found = nullptr;
  const auto status = around.manager->Lookup(around.container, name, &found);
  if (!status.ok()) return fail(no_value(status, name));
  const tf::core::RefCountPtr<tf::Var> variable(found);
  tf::tf_shared_lock lock(*variable->mu());
  return *variable->tensor();
}

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
  TFAOT_TRY(checked(tf::ReadMetaGraphDefFromSavedModel(folder, {kServeTag}, &model),
                    "TensorFlow cannot load this SavedModel"));
  read_old_shapes(*model.mutable_graph_def());
  read_bools(*model.mutable_graph_def());
  return {};
}

// The keys of all signatures but those for loading and training. Sorted.
std::vector<std::string> signature_keys(const tf::MetaGraphDef& model) {
  std::vector<std::string> keys;
  for (const auto& [key, signature] : model.signature_def()) {
    if (key != "__saved_model_init_op" && key != "__saved_model_train_op") keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

Error unknown_signature(const JobModel& job, const tf::MetaGraphDef& meta_graph) {
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

// Placeholders that a signature of a TensorFlow 1 model needs in addition to its inputs.
std::vector<ModelConstant> needed_constants(const tf::GraphDef& graph,
                                            const tf::SignatureDef& signature) {
  Nodes nodes = nodes_of(graph.node());
  for (const auto& [key, input] : signature.inputs()) nodes.erase(node_name(input.name()));
  auto needed = needed_by(
      nodes, mapped(signature.outputs(), [](const auto& output) { return output.second.name(); }));
  std::erase_if(needed, [](const auto* node) { return node->op() != "Placeholder"; });
  std::ranges::sort(needed, {}, &tf::NodeDef::name);
  return likely_constants(needed);
}

class SavedModelGraph final : public ModelGraph {
 public:
  explicit SavedModelGraph(const std::string& folder) : folder_(folder), checkpoint_(folder) {}

  Status open(const JobModel& job) override {
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
      TFAOT_TRY(load_variables());
      TFAOT_ASSIGN(auto value, variable_in(*variables_, node));
      return stored(std::move(value));
    }
    return checkpoint_.value(name, key_of(name));
  }

  // If tf.saved_model.save() wrote a Keras 3 model, TensorFlow's loader does not fill the variables
  // that the signature reads. Their values are taken from the checkpoint.
  Result<std::unique_ptr<tf::Session>> session(const tf::GraphDef& part) override {
    TFAOT_ASSIGN(auto session, load_session(part, tf::SessionOptions()));
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
  // A session with all variables and `part` of the graph; where both have a node, that of the part
  // is used. REQUIRES: make_safe() has checked the part.
  Result<std::unique_ptr<tf::Session>> load_session(const tf::GraphDef& part,
                                                    const tf::SessionOptions& options) const {
    TFAOT_ASSIGN(const auto loading, loading_graph(model_, graph_));
    tf::GraphDef graph = part;
    *graph.mutable_versions() = loading.graph.versions();
    add_graph(graph, loading.graph);
    std::unique_ptr<tf::Session> session(tf::NewSession(options));
    auto status = session->Create(graph);
    const std::string path = tf::io::JoinPath(folder_, tf::kSavedModelVariablesDirectory,
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
    TFAOT_TRY(checked(status, "TensorFlow cannot load the variables of this SavedModel"));
    return session;
  }

  Status load_variables() {
    if (variables_ != nullptr) return {};
    tf::SessionOptions options;
    // The graph is compiled, not run, so optimisers are switched off.
    auto* graph_options = options.config.mutable_graph_options();
    graph_options->mutable_optimizer_options()->set_opt_level(tf::OptimizerOptions::L0);
    graph_options->mutable_rewrite_options()->set_disable_meta_optimizer(true);
    TFAOT_ASSIGN(variables_, load_session({}, options));
    return {};
  }

  // The key in the checkpoint. If tf.saved_model.save() wrote a Keras 3 model, only Python's loader
  // can fill some variables: it finds them by the objects that functions captured. A variable of
  // TensorFlow 1 is stored under its name.
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
  std::unique_ptr<tf::Session> variables_;  // null: not loaded
};

}  // namespace

tf::GraphDef part_of(const tf::GraphDef& graph, const std::vector<const tf::NodeDef*>& nodes) {
  const std::set<const tf::NodeDef*> kept(nodes.begin(), nodes.end());
  tf::GraphDef part;
  *part.mutable_versions() = graph.versions();
  *part.mutable_library() = graph.library();
  for (const auto& node : graph.node()) {
    if (kept.contains(&node)) *part.add_node() = node;
  }
  return part;
}

// The last inputs of a call are the values that its function captured, in the order of
// `bound_inputs`.
std::map<std::string, int> captured_variables(const tf::MetaGraphDef& model) {
  std::map<std::string, int> objects;
  const Nodes nodes = nodes_of(model.graph_def().node());
  const auto& functions = model.object_graph_def().concrete_functions();
  for (const auto& [name, node] : nodes) {
    const auto function = functions.find(attribute_of(*node, "f").func().name());
    if (function == functions.end()) continue;
    const auto& captured = function->second.bound_inputs();
    int inputs = node->input_size();
    while (inputs > 0 && node->input(inputs - 1).starts_with('^')) --inputs;
    const int first = inputs - captured.size();
    for (int i = 0; first >= 0 && i < captured.size(); ++i) {
      const tf::NodeDef* variable = find_node(nodes, node->input(first + i));
      if (variable != nullptr && is_variable(*variable)) {
        objects.try_emplace(resource_name(*variable), captured.Get(i));
      }
    }
  }
  return objects;
}

std::map<int, std::string> keys_of_objects(const tf::SavedObjectGraph& model,
                                           const tf::TrackableObjectGraph& checkpoint) {
  std::map<int, std::string> keys;
  std::map<int, int> places = {{0, 0}};  // of the model's objects in the checkpoint
  std::deque<int> queue = {0};
  while (!queue.empty()) {
    const int number = queue.front();
    queue.pop_front();
    const auto* object = object_at(model.nodes(), number);
    const auto* stored = object_at(checkpoint.nodes(), places.at(number));
    if (object == nullptr || stored == nullptr) continue;
    for (const auto& attribute : stored->attributes()) {
      if (attribute.name() == kValue) keys[number] = attribute.checkpoint_key();
    }
    std::map<std::string, int> stored_children;
    for (const auto& child : stored->children()) {
      stored_children[child.local_name()] = child.node_id();
    }
    for (const auto& child : object->children()) {
      const auto place = stored_children.find(child.local_name());
      if (place == stored_children.end()) continue;
      if (places.try_emplace(child.node_id(), place->second).second) {
        queue.push_back(child.node_id());
      }
    }
  }
  return keys;
}

std::optional<std::string> key_of_name(const tf::TrackableObjectGraph& checkpoint,
                                       const std::string& name) {
  std::optional<std::string> key;
  for (const auto& object : checkpoint.nodes()) {
    for (const auto& attribute : object.attributes()) {
      if (attribute.full_name() != name) continue;
      if (key.has_value()) return {};
      key = attribute.checkpoint_key();
    }
  }
  return key;
}

std::vector<std::string> init_operations(const tf::MetaGraphDef& model) {
  std::vector<std::string> names;
  const auto signature = model.signature_def().find(tf::kSavedModelInitOpSignatureKey);
  if (signature != model.signature_def().end()) {
    for (const auto& [key, output] : signature->second.outputs()) names.push_back(output.name());
  }
  for (const char* key : {tf::kSavedModelMainOpKey, tf::kSavedModelLegacyInitOpKey}) {
    const auto collection = model.collection_def().find(key);
    if (collection == model.collection_def().end()) continue;
    for (const auto& name : collection->second.node_list().value()) names.push_back(name);
  }
  return names;
}

RestoredVariables restored_variables(const tf::MetaGraphDef& model) {
  return RestoreReader(model).take();
}

absl::Status Checkpoint::open() {
  if (reader_ == nullptr) {
    reader_ = std::make_unique<tf::BundleReader>(
        tf::Env::Default(), tf::io::JoinPath(saved_model_, tf::kSavedModelVariablesDirectory,
                                             tf::kSavedModelVariablesFilename));
  }
  return reader_->status();
}

Result<StoredTensor> Checkpoint::value(const std::string& variable, const std::string& key) {
  StoredTensor value;
  auto found = open();
  if (found.ok()) found = reader_->LookupDtypeAndShape(key, &value.type, &value.shape);
  if (!found.ok()) return fail(no_value(found, variable));
  value.read = [this, variable, key, type = value.type,
                shape = value.shape]() -> Result<tf::Tensor> {
    tf::Tensor read(type, shape);
    const auto status = reader_->Lookup(key, &read);
    if (!status.ok()) return fail(no_value(status, variable));
    if (type == tf::DT_BOOL) {
      make_bools(static_cast<char*>(read.data()), read.TotalBytes());
    }
    return read;
  };
  return value;
}

const tf::TrackableObjectGraph& Checkpoint::objects() {
  if (!objects_.has_value()) {
    objects_.emplace();
    tf::Tensor serialized(tf::DT_STRING, {});
    if (open().ok() && reader_->Lookup(kObjectGraphKey, &serialized).ok() &&
        !objects_->ParseFromString(std::string(serialized.scalar<tf::tstring>()()))) {
      objects_->Clear();
    }
  }
  return *objects_;
}

Result<std::unique_ptr<ModelGraph>> ModelGraph::load(const JobModel& job) {
  std::unique_ptr<ModelGraph> model = std::make_unique<SavedModelGraph>(job.source);
  if (job.format == ModelFormat::kFrozenGraph) model = std::make_unique<FrozenGraph>();
  TFAOT_TRY(model->open(job));
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
  const auto read = [](auto& nodes) {
    for (tf::NodeDef& node : nodes) {
      for (auto& [name, value] : *node.mutable_attr()) {
        if (!value.has_tensor() || value.tensor().dtype() != tf::DT_BOOL) continue;
        std::string bytes(value.tensor().tensor_content());
        make_bools(bytes.data(), bytes.size());
        value.mutable_tensor()->set_tensor_content(bytes);
      }
    }
  };
  read(*graph.mutable_node());
  for (auto& function : *graph.mutable_library()->mutable_function()) {
    read(*function.mutable_node_def());
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

Result<ModelFunctions> frozen_graph_functions(const std::string& file) {
  tf::GraphDef graph;
  TFAOT_TRY(read_graph(file, graph));
  const GraphEnds ends = ends_of(graph);
  ModelFunctions functions = one_function("", ModelFormat::kFrozenGraph, file);
  JobModel& job = functions.models.front();
  job.constants = likely_constants(ends.placeholders);
  if (job.constants.size() == ends.placeholders.size()) job.constants.clear();  // some are inputs
  for (const auto* node : ends.placeholders) {
    if (!contains(job.constants, node->name(), &ModelConstant::name))
      job.inputs.push_back({node->name(), {}, false, {}});
  }
  const std::set<std::string> fed = fed_by(graph, job.inputs);
  // Operations without a result, such as NoOp and Assert, are not outputs.
  for (const std::string& name : ends.unread) {
    const auto node = std::ranges::find(graph.node(), name, [](const auto& n) { return n.name(); });
    const tf::OpDef* definition = nullptr;
    const auto known = tf::OpRegistry::Global()->LookUpOpDef(node->op(), &definition);
    const bool is_result = fed.contains(name) && (!known.ok() || definition->output_arg_size() > 0);
    if (is_result && node->op() != "Placeholder") job.outputs.push_back(name);
  }
  return functions;
}

Result<ModelFunctions> saved_model_functions(const std::string& folder) {
  tf::MetaGraphDef model;
  TFAOT_TRY(read_meta_graph(folder, model));
  ModelFunctions functions;
  const std::string& version = model.meta_info_def().tensorflow_version();
  if (!version.empty()) functions.producer = "tensorflow " + version;
  for (const std::string& key : signature_keys(model)) {
    JobModel job;
    job.source = folder;
    job.serving_key = key;
    job.constants = needed_constants(model.graph_def(), model.signature_def().at(key));
    functions.models.push_back(std::move(job));
  }
  return functions;
}

}  // namespace tfaot::toolkit::engine
