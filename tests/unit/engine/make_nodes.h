// SPDX-License-Identifier: Apache-2.0
// Nodes of TensorFlow graphs, each in one line.
#pragma once

#include <string>
#include <vector>

#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace tfaot::toolkit::engine {

inline tensorflow::NodeDef node(const std::string& name, const std::string& op,
                                const std::vector<std::string>& inputs = {}) {
  tensorflow::NodeDef made;
  made.set_name(name);
  made.set_op(op);
  for (const auto& input : inputs) made.add_input(input);
  return made;
}

inline tensorflow::NodeDef variable(const std::string& name, const std::string& shared_name) {
  tensorflow::NodeDef made = node(name, "VarHandleOp");
  tensorflow::AddNodeAttr("shared_name", shared_name, &made);
  return made;
}

inline tensorflow::NodeDef texts(const std::string& name, const std::vector<std::string>& values) {
  tensorflow::Tensor tensor(tensorflow::DT_STRING, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensor.flat<tensorflow::tstring>()(static_cast<std::int64_t>(i)) = values[i];
  }
  tensorflow::NodeDef made = node(name, "Const");
  tensorflow::AddNodeAttr("value", tensor, &made);
  return made;
}

// A call of a function by any operation that takes one in `attribute`.
inline tensorflow::NodeDef call(const std::string& name, const std::string& op,
                                const std::string& attribute, const std::string& function,
                                const std::vector<std::string>& inputs = {}) {
  tensorflow::NodeDef made = node(name, op, inputs);
  tensorflow::NameAttrList list;
  list.set_name(function);
  tensorflow::AddNodeAttr(attribute, list, &made);
  return made;
}

// A function whose results are `results`, as {"node:output:0"}.
inline tensorflow::FunctionDef function_of(const std::string& name,
                                           const std::vector<std::string>& arguments,
                                           const std::vector<tensorflow::NodeDef>& nodes,
                                           const std::vector<std::string>& results) {
  tensorflow::FunctionDef made;
  made.mutable_signature()->set_name(name);
  for (const auto& argument : arguments) {
    made.mutable_signature()->add_input_arg()->set_name(argument);
  }
  for (const auto& one : nodes) *made.add_node_def() = one;
  for (const auto& result : results) (*made.mutable_ret())["r" + result] = result;
  return made;
}

}  // namespace tfaot::toolkit::engine
