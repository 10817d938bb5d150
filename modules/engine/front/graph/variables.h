// SPDX-License-Identifier: Apache-2.0
// The variables of a SavedModel: which object each variable of its graph is, which key of the
// checkpoint has its value, and the values themselves, each read separately: no session holds them
// all. Names do not tell: layers inside of one Keras layer may have variables of the same name, and
// the graph then numbers them in an order of its own. Used by one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/protobuf/trackable_object_graph.pb.h"
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

// By resource_name(): the number of the object that a call of one of the model's functions passes
// on with the variable.
std::map<std::string, int> captured_variables(const tensorflow::MetaGraphDef& model);

// The keys of variables in the checkpoint, by the numbers that their objects have in the model.
// Both graphs have the same names between objects.
std::map<int, std::string> keys_of_objects(const tensorflow::SavedObjectGraph& model,
                                           const tensorflow::TrackableObjectGraph& checkpoint);

// The key of the variable of that name ("dense/kernel"), if there is one alone.
std::optional<std::string> key_of_name(const tensorflow::TrackableObjectGraph& checkpoint,
                                       const std::string& name);

inline bool is_variable(const tensorflow::NodeDef& node) {
  return node.op() == "VarHandleOp" || node.op() == "VariableV2" || node.op() == "Variable";
}

struct RestoredVariables {
  std::map<std::string, std::string> keys;  // by resource_name(): the key in the checkpoint
  // Variables that loading fills in another way than by a key alone.
  std::set<std::string> others;
};

// The name by which TensorFlow's sessions know the variable of a VarHandleOp or VariableV2 node.
std::string resource_name(const tensorflow::NodeDef& node);

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

}  // namespace tfaot::toolkit::engine
