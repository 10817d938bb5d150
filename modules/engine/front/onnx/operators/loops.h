// SPDX-License-Identifier: Apache-2.0
// Loops over computations, and the graphs inside of nodes as such computations: what If, Loop, Scan
// and the recurrent operators share. XLA's computations see nothing around them, so all that they
// read is passed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "front/onnx/node.h"
#include "xla/client/xla_computation.h"

namespace tfaot::toolkit::engine {

// The operands of a loop's step. All values are of the builder.
struct LoopStep {
  xla::XlaBuilder& builder;
  xla::XlaOp number;              // of the step, from 0 on; a scalar of type S64
  std::vector<xla::XlaOp> state;  // results of the step before
  std::vector<xla::XlaOp> fixed;  // the same for all steps
};

struct LoopLength {
  std::optional<std::int64_t> count;  // none: only the state ends the loop
  bool by_state = false;  // the state starts with a boolean scalar: go on while it is true
  bool is_while = false;  // an XLA While also for few steps
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

}  // namespace tfaot::toolkit::engine
