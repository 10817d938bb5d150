// SPDX-License-Identifier: Apache-2.0
// Loops over computations, and the graphs inside of nodes as such computations: what If, Loop, Scan
// and the recurrent operators share. XLA's computations see nothing around them, so all that they
// read is passed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "front/onnx/node.h"
#include "front/onnx/onnx_scope.h"
#include "xla/client/xla_computation.h"

namespace tfaot::toolkit::engine {

// The operands of a loop's step. All values are of the builder.
struct LoopStep {
  xla::XlaBuilder& builder;
  xla::XlaOp number;              // of the step, from 0 on; a scalar of type S64
  std::vector<xla::XlaOp> state;  // what the step before made
  std::vector<xla::XlaOp> fixed;  // the same for all steps
};

struct LoopLength {
  std::optional<std::int64_t> count;  // none: only the state ends the loop
  bool by_state =
      false;  // the first value of the state is a scalar boolean: go on while it is true
};

// Returns the results of the last step. Few steps of known count are done one after the other; more
// are an XLA While. Refuses states that change their shape.
std::vector<xla::XlaOp> run_loop(
    const Node& node, LoopLength length, std::vector<xla::XlaOp> state,
    const std::vector<xla::XlaOp>& fixed,
    const std::function<std::vector<xla::XlaOp>(const LoopStep&)>& step);

// x at one place of a dimension, which is taken out.
xla::XlaOp at_step(const Node& node, xla::XlaOp x, std::int64_t axis, xla::XlaOp place);
// `all` with `one` at one place of its first dimension.
xla::XlaOp with_step(const Node& node, xla::XlaOp all, xla::XlaOp one, xla::XlaOp place);

// A builder for a computation of its own, with the node's name on what it makes.
std::unique_ptr<xla::XlaBuilder> computation_builder(const Node& node, const std::string& name);
xla::XlaComputation built_computation(const Node& node, xla::XlaBuilder& builder, xla::XlaOp root);

// A graph inside of a node, and what it reads of the graphs around. Small known values are
// constants inside, so that what is known stays known.
class InnerGraph {
 public:
  // The references must outlive the object.
  InnerGraph(const Node& node, const onnx::GraphProto& graph);

  const onnx::GraphProto& graph() const { return graph_; }
  // To be passed to computations that hold the graph.
  const std::vector<xla::XlaOp>& outer() const { return outer_; }

  // The graph's outputs. `outer`: those of outer() as the builder sees them; not needed with the
  // node's own builder.
  std::vector<xla::XlaOp> lower(xla::XlaBuilder& builder, const std::vector<xla::XlaOp>& inputs,
                                const std::vector<xla::XlaOp>& outer) const;

  // Results of lower() for inputs like these, of which only `holds` is known: it is true. Lowers a
  // graph once for each kind of inputs: loops in loops would otherwise take twice as long for each
  // level. Throws a Refusal.
  GraphOutcome outcome(const std::vector<xla::Shape>& inputs, std::optional<int> holds = {}) const;

  // Counts the steps of a Loop of this graph, at most `most`, if its condition follows from the
  // number of the step and the `initial` values that are known: a loop that counts by itself. Tries
  // them one by one. Throws a Refusal.
  std::optional<std::int64_t> counted_steps(const std::vector<xla::XlaOp>& initial,
                                            std::int64_t most) const;

 private:
  std::string outcome_key(const std::vector<xla::Shape>& inputs, std::optional<int> holds) const;
  GraphOutcome new_outcome(const std::vector<xla::Shape>& inputs, std::optional<int> holds) const;

  const Node& node_;
  const onnx::GraphProto& graph_;
  std::vector<std::string> names_;  // of outer_
  std::vector<xla::XlaOp> outer_;
  std::map<std::string, xla::Literal> known_;
};

// Nodes that one step may become. `of_loop`: those of a loop inside, which may be written out too.
std::int64_t nodes_of_step(const onnx::GraphProto& graph, std::int64_t of_loop);

// The value of a known scalar.
std::optional<bool> known_condition(const Node& node, xla::XlaOp op);

}  // namespace tfaot::toolkit::engine
