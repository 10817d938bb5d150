// SPDX-License-Identifier: Apache-2.0
#include "front/graph/variables.h"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "compiler/hlo/conversions.h"
#include "front/graph/graph_nodes.h"
#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/path.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kValue = "VARIABLE_VALUE";

// Null if there is none.
template <class Node>
const Node* object_at(const google::protobuf::RepeatedPtrField<Node>& nodes, int number) {
  return number >= 0 && number < nodes.size() ? &nodes.Get(number) : nullptr;
}

int output_index(const std::string& input) {
  const auto colon = input.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(input.c_str() + colon + 1);
}

// One of a constant's strings.
std::optional<std::string> text_at(const tf::NodeDef* node, int index) {
  tf::Tensor value;
  if (node == nullptr || node->op() != "Const") return {};
  const auto found = node->attr().find("value");
  if (found == node->attr().end() || found->second.tensor().dtype() != tf::DT_STRING ||
      !value.FromProto(found->second.tensor()) || index < 0 || index >= value.NumElements()) {
    return {};
  }
  return std::string(value.flat<tf::tstring>()(index));
}

// The key of a restored value; nothing for parts of tensors and other cases.
std::optional<std::string> key_behind(const Nodes& nodes, std::string input) {
  const tf::NodeDef* node = find_node(nodes, input);
  std::set<const tf::NodeDef*> seen;
  while (node != nullptr && node->op() == "Identity" && node->input_size() > 0) {
    if (!seen.insert(node).second) return {};  // a graph may have any form
    input = node->input(0);
    node = find_node(nodes, input);
  }
  if (node == nullptr || node->op() != "RestoreV2" || node->input_size() < 3) return {};
  const int index = output_index(input);
  const auto part = text_at(find_node(nodes, node->input(2)), index);
  if (!part || !part->empty()) return {};
  return text_at(find_node(nodes, node->input(1)), index);
}

class RestoreReader {
 public:
  explicit RestoreReader(const tf::MetaGraphDef& model) {
    graph_ = nodes_of(model.graph_def().node());
    for (const auto& function : model.graph_def().library().function()) {
      functions_[function.signature().name()] = &function;
    }
    const auto restoring = needed_by(graph_, model.saver_def().restore_op_name());
    for (const auto* node : restoring) {
      if (is_variable(*node)) found_.others.insert(resource_name(*node));
    }
    visit(restoring, graph_);
    for (const auto* node : restoring) visit_call(*node);
    for (const auto& name : init_operations(model)) {
      for (const auto* node : needed_by(graph_, name)) {
        if (is_variable(*node)) found_.others.insert(resource_name(*node));
      }
    }
    for (const auto& name : found_.others) found_.keys.erase(name);
  }

  RestoredVariables take() { return std::move(found_); }

 private:
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
    const auto function = node.attr().find("f");
    if (function == node.attr().end()) return;
    const auto found = functions_.find(function->second.func().name());
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
  std::map<std::string, const tf::FunctionDef*> functions_;
  RestoredVariables found_;
};

constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

Error no_value(const absl::Status& status, const std::string& variable) {
  return error_of(status, fmt::format("variable '{}' has no value", variable));
}

}  // namespace

// A call's last inputs are what its function captured, in the order of `bound_inputs`.
std::map<std::string, int> captured_variables(const tf::MetaGraphDef& model) {
  std::map<std::string, int> objects;
  const Nodes nodes = nodes_of(model.graph_def().node());
  const auto& functions = model.object_graph_def().concrete_functions();
  for (const auto& [name, node] : nodes) {
    const auto callee = node->attr().find("f");
    if (callee == node->attr().end()) continue;
    const auto function = functions.find(callee->second.func().name());
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

std::string resource_name(const tf::NodeDef& node) {
  std::string name;
  tf::GetNodeAttr(node, "shared_name", &name).IgnoreError();
  return name.empty() ? node.name() : name;
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

}  // namespace tfaot::toolkit::engine
