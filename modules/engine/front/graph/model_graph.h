// SPDX-License-Identifier: Apache-2.0
// The variables of a SavedModel: their objects, their keys in the checkpoint and their values, read
// one at a time, so that no session holds them all. Names alone are ambiguous: layers inside one
// Keras layer may have variables of the same name, which the graph numbers in an order of its own.
// Used by one thread.
//
// Lookups among the nodes of a graph or of a function's body. Pure functions.
//
// A TensorFlow model as read from disk: one graph, its inputs and outputs, and access to the values
// of its variables. Placeholders that are not inputs get values from model.constants of the config
// before anything else is done with the graph. Independent of XLA. Used by one thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "front/lowering/signature.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/protobuf/trackable_object_graph.pb.h"
#include "tensorflow/core/public/session.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct StoredTensor {
  tensorflow::DataType type = tensorflow::DT_INVALID;
  tensorflow::TensorShape shape;
  // Reads it again in each call; must not outlive the model.
  std::function<Result<tensorflow::Tensor>()> read;
};

// A tensor that is already in memory.
inline StoredTensor stored(tensorflow::Tensor tensor) {
  const auto type = tensor.dtype();
  auto shape = tensor.shape();
  return {type, std::move(shape),
          [tensor = std::move(tensor)]() -> Result<tensorflow::Tensor> { return tensor; }};
}

// Maps resource_name() to the number of the object that a function of the model captured with the
// variable.
std::map<std::string, int> captured_variables(const tensorflow::MetaGraphDef& model);

// Maps the numbers of the model's objects to the checkpoint keys of their variables. The edges of
// both object graphs have the same names.
std::map<int, std::string> keys_of_objects(const tensorflow::SavedObjectGraph& model,
                                           const tensorflow::TrackableObjectGraph& checkpoint);

// The key of the variable of that name ("dense/kernel"), if it is unique.
std::optional<std::string> key_of_name(const tensorflow::TrackableObjectGraph& checkpoint,
                                       const std::string& name);

inline bool is_variable(const tensorflow::NodeDef& node) {
  return node.op() == "VarHandleOp" || node.op() == "VariableV2" || node.op() == "Variable";
}

// An empty value if the node has no such attribute.
inline const tensorflow::AttrValue& attribute_of(const tensorflow::NodeDef& node,
                                                 const std::string& name) {
  const auto found = node.attr().find(name);
  return found == node.attr().end() ? tensorflow::AttrValue::default_instance() : found->second;
}
// DT_INVALID if the node has none.
inline tensorflow::DataType dtype_attribute(const tensorflow::NodeDef& node) {
  return attribute_of(node, "dtype").type();
}

struct RestoredVariables {
  std::map<std::string, std::string> keys;  // by resource_name(): the key in the checkpoint
  // Variables that loading fills in another way than from one key.
  std::set<std::string> others;
};

// The operations that loading runs after reading the checkpoint: initialisers.
std::vector<std::string> init_operations(const tensorflow::MetaGraphDef& model);

RestoredVariables restored_variables(const tensorflow::MetaGraphDef& model);

class Checkpoint {
 public:
  // `saved_model` is the folder. Reads nothing yet.
  explicit Checkpoint(std::string saved_model) : saved_model_(std::move(saved_model)) {}

  // The value under a key; fails if there is none. Reading it compares checksums. The object must
  // outlive the result.
  Result<StoredTensor> value(const std::string& variable, const std::string& key);

  // The objects that were saved, with the keys of their variables. Of TensorFlow 1: none.
  const tensorflow::TrackableObjectGraph& objects();

 private:
  absl::Status open();

  std::string saved_model_;
  std::unique_ptr<tensorflow::BundleReader> reader_;
  std::optional<tensorflow::TrackableObjectGraph> objects_;
};

// In a function's body, an argument may be mapped to a node of the calling graph.
using Nodes = std::map<std::string, const tensorflow::NodeDef*>;

template <class Range>
Nodes nodes_of(const Range& range) {
  Nodes nodes;
  for (const auto& node : range) nodes[node.name()] = &node;
  return nodes;
}

// True if the node calls the function of its attribute "f".
inline bool is_call(const tensorflow::NodeDef& node) {
  return node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
}

// The node's name in "node", "node:1", "node:output:1" or "^node".
inline std::string node_name(const std::string& input) {
  const std::size_t start = input.starts_with('^') ? 1 : 0;
  return input.substr(start, input.find(':', start) - start);
}

// Null if there is none.
inline const tensorflow::NodeDef* find_node(const Nodes& nodes, const std::string& input) {
  const auto found = nodes.find(node_name(input));
  return found == nodes.end() ? nullptr : found->second;
}

// All nodes that these need, including themselves.
inline std::vector<const tensorflow::NodeDef*> needed_by(const Nodes& nodes,
                                                         const std::vector<std::string>& names) {
  std::vector<const tensorflow::NodeDef*> needed;
  std::set<const tensorflow::NodeDef*> seen;
  const auto add = [&](const std::string& name) {
    const tensorflow::NodeDef* const node = find_node(nodes, name);
    if (node != nullptr && seen.insert(node).second) needed.push_back(node);
  };
  for (const std::string& name : names) add(name);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    for (const auto& input : needed[i]->input()) add(input);
  }
  return needed;
}

// The graph with these of its nodes alone.
tensorflow::GraphDef part_of(const tensorflow::GraphDef& graph,
                             const std::vector<const tensorflow::NodeDef*>& nodes);

using Functions = std::map<std::string, const tensorflow::FunctionDef*>;
inline Functions functions_of(const tensorflow::FunctionDefLibrary& library) {
  Functions functions;
  for (const auto& function : library.function())
    functions[function.signature().name()] = &function;
  return functions;
}

class ModelGraph {
 public:
  // Loads the model of the job. Errors name the folder or file and say what it contains.
  static Result<std::unique_ptr<ModelGraph>> load(const JobModel& job);

  virtual ~ModelGraph() = default;

  const tensorflow::GraphDef& graph() const { return graph_; }
  // SavedModel: sorted by name, as TensorFlow does. Frozen graph: in the config's order.
  const std::vector<ModelTensor>& inputs() const { return inputs_; }
  const std::vector<ModelTensor>& outputs() const { return outputs_; }
  // "signature 'serving_default'" or "frozen graph", for messages.
  const std::string& label() const { return label_; }

  // The value of the variable of a VarHandleOp or VariableV2 node.
  virtual Result<StoredTensor> variable(const tensorflow::NodeDef& node) = 0;

  // A session with this part of the graph, whose variables TensorFlow's loader has filled.
  // REQUIRES: make_safe() has checked the part.
  virtual Result<std::unique_ptr<tensorflow::Session>> session(
      const tensorflow::GraphDef& part) = 0;

  // True if the config gives shapes that the graph lacks.
  virtual bool shapes_from_config() const { return false; }

 protected:
  // Reads the job's file or folder.
  virtual Status open(const JobModel& /*job*/) { return {}; }

  tensorflow::GraphDef graph_;
  std::vector<ModelTensor> inputs_;
  std::vector<ModelTensor> outputs_;
  std::string label_;
};

// Makes the shapes of scalar placeholders unknown, as TensorFlow does for GraphDefs before version
// 22, which wrote unknown shapes like scalars.
void read_old_shapes(tensorflow::GraphDef& graph);

// Turns bytes of boolean constants that are neither 0 nor 1 into 1, also in functions.
void read_bools(tensorflow::GraphDef& graph);

// Replaces the placeholders by constants. `inputs`: the nodes of the model's inputs. Errors: the
// placeholder does not exist or is an input, or the value does not fit.
Status fix_placeholders(tensorflow::GraphDef& graph, const std::vector<ModelConstant>& constants,
                        const std::set<std::string>& inputs);

bool is_placeholder(const tensorflow::NodeDef& node);

// Placeholders that are probably not inputs, with a plausible value: scalar booleans and integers.
std::vector<ModelConstant> likely_constants(
    const std::vector<const tensorflow::NodeDef*>& placeholders);

// The one function of a frozen GraphDef (.pb, or .pbtxt as text): from the placeholders to the
// nodes that no other node reads.
Result<ModelFunctions> frozen_graph_functions(const std::string& file);

// The functions of a SavedModel folder, one for each signature, by name.
Result<ModelFunctions> saved_model_functions(const std::string& folder);

}  // namespace tfaot::toolkit::engine
