// SPDX-License-Identifier: Apache-2.0
// The values of an ONNX graph while it is lowered, by name, and lowering the nodes themselves. A
// graph inside of a node sees the names of the graphs around it. Used by one thread.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "onnx-ml.pb.h"
#include "tfaot/base/result.h"
#include "xla/client/xla_builder.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

// The model that all scopes share.
struct OnnxModel {
  onnx::ModelProto proto;
  std::string file;  // external data is next to it
};

// The version of each domain's operators; "" is ONNX's own.
using Opsets = std::map<std::string, std::int64_t>;
// ONNX's own domain has two names: "ai.onnx" becomes "".
inline std::string plain_domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}
template <typename Imports>
Opsets opsets_of(const Imports& imports) {
  Opsets opsets;
  for (const auto& import : imports) opsets[plain_domain(import.domain())] = import.version();
  return opsets;
}

// The model's own function that the node calls; null if it calls an operator.
const onnx::FunctionProto* function_of(const OnnxModel& model, const onnx::NodeProto& node);

// Makes a weight of the model from a value that an operator computed from its attributes.
using WeightKeeper = std::function<xla::XlaOp(const std::string& name, const xla::Literal& value)>;

// Result of lowering a graph inside of a node for inputs of given shapes.
struct GraphOutcome {
  std::vector<xla::Shape> shapes;
  std::optional<bool> first;  // the first output, if it is a known boolean
};
// State that all scopes of one lowering share.
struct LoweringState {
  std::int64_t nodes = 0;                        // that were lowered
  std::map<std::string, GraphOutcome> outcomes;  // by graph and inputs, in bytes
};

class OnnxScope {
 public:
  // The references must outlive the scope.
  OnnxScope(const OnnxModel& model, const Opsets& opsets, xla::XlaBuilder& builder)
      : model_(model),
        opsets_(opsets),
        builder_(builder),
        state_(std::make_shared<LoweringState>()) {}
  // For a graph or a function inside of `holder`. `around`: the graph whose names it sees, with the
  // same builder; null: there is none.
  OnnxScope(const OnnxScope& holder, const Opsets& opsets, xla::XlaBuilder& builder,
            const OnnxScope* around)
      : model_(holder.model_),
        opsets_(opsets),
        builder_(builder),
        around_(around),
        state_(holder.state_) {}

  const OnnxModel& model() const { return model_; }
  const Opsets& opsets() const { return opsets_; }
  xla::XlaBuilder& builder() const { return builder_; }
  LoweringState& state() const { return *state_; }

  void set(const std::string& name, xla::XlaOp op) { values_[name] = op; }
  // Throws a Refusal if the value is missing.
  std::optional<xla::XlaOp> find(const std::string& name) const;
  // A node cannot make the value.
  void set_missing(const std::string& name, Error why) {
    missing_.insert_or_assign(name, std::move(why));
  }

  // With a keeper, what operators keep becomes a weight, else a constant; a constant also in
  // computations with a builder of their own, which see no parameter.
  void keep_by(WeightKeeper keeper) { keeper_ = std::move(keeper); }
  xla::XlaOp keep(const std::string& name, const xla::Literal& value) const;

  // Lowers the nodes in order, with the graph's initializers that have no value yet as constants.
  // Throws a Refusal.
  void lower(const onnx::GraphProto& graph);
  // The graph's outputs. REQUIRES: lower().
  std::vector<xla::XlaOp> outputs_of(const onnx::GraphProto& graph) const;

 private:
  void lower_node(const onnx::NodeProto& proto);
  void lower_call(const onnx::NodeProto& call, const onnx::FunctionProto& function);

  const OnnxModel& model_;
  const Opsets& opsets_;
  xla::XlaBuilder& builder_;
  const OnnxScope* around_ = nullptr;
  std::shared_ptr<LoweringState> state_;
  std::map<std::string, xla::XlaOp> values_;
  std::map<std::string, Error> missing_;
  WeightKeeper keeper_;
};

// Names that the graph reads from around it, also in graphs inside of its nodes.
std::set<std::string> free_names(const onnx::GraphProto& graph);
// Names that the node reads, also in graphs inside of it.
std::set<std::string> names_read_by(const onnx::NodeProto& node);
// The nodes that the names need, in order.
template <typename Nodes>
std::vector<const onnx::NodeProto*> needed_nodes(const Nodes& nodes, std::set<std::string> names) {
  std::vector<const onnx::NodeProto*> needed;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto& made = node->output();
    if (std::none_of(made.begin(), made.end(),
                     [&](const std::string& name) { return names.count(name) > 0; })) {
      continue;
    }
    names.merge(names_read_by(*node));
    needed.push_back(&*node);
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

}  // namespace tfaot::toolkit::engine
