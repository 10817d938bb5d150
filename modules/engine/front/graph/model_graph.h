// SPDX-License-Identifier: Apache-2.0
// A TensorFlow model as read from disk: one graph, its inputs and outputs, and access to the values
// of its variables. Placeholders that are not inputs get values from model.constants of the config
// before anything else is done with the graph. Independent of XLA. Used by one thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "front/graph/variables.h"
#include "front/lowering/source_model.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/public/session.h"
#include "tfaot/base/result.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

class ModelGraph {
 public:
  // Loads the model of the job. Errors name the folder or file and say what it contains.
  static Result<std::unique_ptr<ModelGraph>> load(const EngineJob& job);

  virtual ~ModelGraph() = default;

  const tensorflow::GraphDef& graph() const { return graph_; }
  // SavedModel: sorted by name, as TensorFlow does. Frozen graph: in the config's order.
  const std::vector<ModelTensor>& inputs() const { return inputs_; }
  const std::vector<ModelTensor>& outputs() const { return outputs_; }
  // "signature 'serving_default'" or "frozen graph", for messages.
  const std::string& label() const { return label_; }

  // The value of the variable of a VarHandleOp or VariableV2 node.
  virtual Result<StoredTensor> variable(const tensorflow::NodeDef& node) = 0;

  // A session with this part of the graph in it, and the values of its variables as TensorFlow's
  // loader fills them. REQUIRES: make_safe() has seen the part.
  virtual Result<std::unique_ptr<tensorflow::Session>> session(
      const tensorflow::GraphDef& part) = 0;

  // The config says shapes that the graph does not.
  virtual bool shapes_from_config() const { return false; }

 protected:
  // Reads the job's file or folder.
  virtual Status open(const EngineJob& /*job*/) { return {}; }

  tensorflow::GraphDef graph_;
  std::vector<ModelTensor> inputs_;
  std::vector<ModelTensor> outputs_;
  std::string label_;
};

// Before version 22 of GraphDef, a placeholder of unknown shape was written like a scalar: makes
// its shape unknown, as TensorFlow does.
void read_old_shapes(tensorflow::GraphDef& graph);

// Truth values of constants that are neither 0 nor 1 become 1, also in functions.
void read_bools(tensorflow::GraphDef& graph);

// Replaces the placeholders by constants. `inputs`: the nodes of the model's inputs. Errors: there
// is no such placeholder, it is an input, the value does not fit.
Status fix_placeholders(tensorflow::GraphDef& graph, const std::vector<ModelConstant>& constants,
                        const std::set<std::string>& inputs);

bool is_placeholder(const tensorflow::NodeDef& node);

// Placeholders that look like no inputs, with a value that they may have: single truth values and
// single whole numbers.
std::vector<ModelConstant> likely_constants(
    const std::vector<const tensorflow::NodeDef*>& placeholders);

// The one function of a frozen GraphDef (.pb, or .pbtxt as text): from the placeholders to the
// nodes that no other node reads.
Result<ModelFunctions> frozen_graph_functions(const std::string& file);

// The functions of a SavedModel folder, one for each signature, by name.
Result<ModelFunctions> saved_model_functions(const std::string& folder);

}  // namespace tfaot::toolkit::engine
