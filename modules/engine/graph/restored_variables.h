// SPDX-License-Identifier: Apache-2.0
// Finds out from the graph where loading a SavedModel would take each variable's value from. Runs
// nothing. Pure functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensorflow/core/protobuf/meta_graph.pb.h"

namespace tfaot::toolkit::engine {

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

}  // namespace tfaot::toolkit::engine
