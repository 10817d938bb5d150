// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/loops.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/known_value.h"
#include "onnx/onnx_scope.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/places.h"
#include "onnx/refusal.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

constexpr std::int64_t kMostStepsInLine = 4;
// Larger values are passed to inner graphs, even if they are known.
constexpr std::int64_t kMostKnownInside = 4096;
// Nodes that are lowered to count a loop's steps.
constexpr std::int64_t kMostNodesTried = 65536;

std::vector<XlaOp> parameters_of(xla::XlaBuilder& builder, const std::vector<xla::Shape>& shapes) {
  std::vector<XlaOp> parameters;
  for (const xla::Shape& shape : shapes) {
    const auto number = std::ssize(parameters);
    parameters.push_back(xla::Parameter(&builder, number, shape, fmt::format("p{}", number)));
  }
  return parameters;
}

// None: it depends on the model's inputs, or is large.
std::optional<xla::Literal> small_known_value(const Node& node, XlaOp op) {
  if (product(node.sizes_of(op)) > kMostKnownInside) return std::nullopt;
  auto value = known_value(op);
  if (!value) throw Refusal(value.error());
  return *std::move(value);
}

std::vector<xla::Shape> shapes_of(const Node& node, const std::vector<XlaOp>& ops) {
  std::vector<xla::Shape> shapes;
  for (const XlaOp op : ops) shapes.push_back(node.shape_of_op(op));
  return shapes;
}

// The parts of a loop's tuple: the number, the state, what is fixed.
LoopStep loop_step(xla::XlaBuilder& builder, const xla::Shape& shape, std::size_t states) {
  const XlaOp whole = xla::Parameter(&builder, 0, shape, "p0");
  LoopStep step{builder, xla::GetTupleElement(whole, 0), {}, {}};
  for (int i = 1; i < shape.tuple_shapes_size(); ++i) {
    auto& part = static_cast<std::size_t>(i) <= states ? step.state : step.fixed;
    part.push_back(xla::GetTupleElement(whole, i));
  }
  return step;
}

xla::XlaComputation loop_condition(const Node& node, const LoopLength& length,
                                   const xla::Shape& shape, std::size_t states) {
  const auto builder = computation_builder(node, "condition");
  const LoopStep step = loop_step(*builder, shape, states);
  std::optional<XlaOp> going;
  if (length.count) going = xla::Lt(step.number, xla::ScalarLike(step.number, *length.count));
  if (length.by_state) {
    const XlaOp wanted = xla::Reshape(step.state.front(), {});
    going = going ? xla::And(*going, wanted) : wanted;
  }
  return built_computation(node, *builder, *going);
}

}  // namespace

std::unique_ptr<xla::XlaBuilder> computation_builder(const Node& node, const std::string& name) {
  auto builder = node.builder().CreateSubBuilder(name);
  xla::OpMetadata metadata = node.builder().SwapOpMetadata({});
  builder->SetOpMetadata(metadata);
  node.builder().SetOpMetadata(std::move(metadata));
  return builder;
}

xla::XlaComputation built_computation(const Node& node, xla::XlaBuilder& builder, XlaOp root) {
  auto built = builder.Build(root);
  if (!built.ok()) node.refuse("cannot be compiled: " + std::string(built.status().message()));
  return *std::move(built);
}

std::vector<XlaOp> run_loop(const Node& node, LoopLength length, std::vector<XlaOp> state,
                            const std::vector<XlaOp>& fixed,
                            const std::function<std::vector<XlaOp>(const LoopStep&)>& step) {
  xla::XlaBuilder& builder = node.builder();
  const auto number = [&](std::int64_t i) { return xla::ConstantR0<std::int64_t>(&builder, i); };
  if (length.count && *length.count <= kMostStepsInLine && !length.by_state) {
    for (std::int64_t i = 0; i < *length.count; ++i)
      state = step({builder, number(i), state, fixed});
    return state;
  }
  std::vector<XlaOp> all = {number(0)};
  all.insert(all.end(), state.begin(), state.end());
  all.insert(all.end(), fixed.begin(), fixed.end());
  const xla::Shape shape = xla::ShapeUtil::MakeTupleShape(shapes_of(node, all));
  const auto body = computation_builder(node, "body");
  const LoopStep inside = loop_step(*body, shape, state.size());
  const std::vector<XlaOp> made = step(inside);
  std::vector<XlaOp> next = {xla::Add(inside.number, xla::ScalarLike(inside.number, 1))};
  for (std::size_t i = 0; i < made.size(); ++i) {
    const xla::Shape before = node.shape_of_op(state[i]);
    if (!xla::ShapeUtil::Compatible(node.shape_of_op(made[i]), before)) {
      node.refuse(
          fmt::format("has a value {} that changes its shape from step to step: from {} to {}", i,
                      xla::ShapeUtil::HumanString(before),
                      xla::ShapeUtil::HumanString(node.shape_of_op(made[i]))));
    }
    next.push_back(made[i]);
  }
  next.insert(next.end(), inside.fixed.begin(), inside.fixed.end());
  const auto body_made = built_computation(node, *body, xla::Tuple(body.get(), next));
  const auto condition = loop_condition(node, length, shape, state.size());
  const XlaOp last = xla::While(condition, body_made, xla::Tuple(&builder, all));
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] = xla::GetTupleElement(last, static_cast<std::int64_t>(i) + 1);
  }
  return state;
}

XlaOp at_step(const Node& node, XlaOp x, std::int64_t axis, XlaOp place) {
  Dimensions sizes = node.sizes_of(x);
  size_at(sizes, axis) = 1;
  std::vector<XlaOp> start(sizes.size(), xla::ZerosLike(place));
  start[static_cast<std::size_t>(axis)] = place;
  const XlaOp one = xla::DynamicSlice(x, start, sizes);
  sizes.erase(sizes.begin() + axis);
  return xla::Reshape(one, sizes);
}

XlaOp with_step(const Node& node, XlaOp all, XlaOp one, XlaOp place) {
  Dimensions sizes = node.sizes_of(one);
  sizes.insert(sizes.begin(), 1);
  std::vector<XlaOp> start(sizes.size(), xla::ZerosLike(place));
  start.front() = place;
  return xla::DynamicUpdateSlice(all, xla::Reshape(one, sizes), start);
}

InnerGraph::InnerGraph(const Node& node, const onnx::GraphProto& graph)
    : node_(node), graph_(graph) {
  for (const std::string& name : free_names(graph)) {
    const auto found = node.scope().find(name);
    if (!found) continue;  // an error of the node that reads it
    if (auto value = small_known_value(node, *found)) {
      known_.emplace(name, *std::move(value));
      continue;
    }
    names_.push_back(name);
    outer_.push_back(*found);
  }
}

std::vector<XlaOp> InnerGraph::lower(xla::XlaBuilder& builder, const std::vector<XlaOp>& inputs,
                                     const std::vector<XlaOp>& outer) const {
  const OnnxScope& around = node_.scope();
  const bool same = &builder == &around.builder();
  OnnxScope inside(around, around.opsets(), builder, same ? &around : nullptr);
  if (!same) {
    for (const auto& [name, value] : known_)
      inside.set(name, xla::ConstantLiteral(&builder, value));
    for (std::size_t i = 0; i < names_.size(); ++i) inside.set(names_[i], outer[i]);
  }
  if (std::ssize(inputs) != graph_.input_size()) {
    node_.refuse(fmt::format("gives {} values to its graph, which has {} inputs", inputs.size(),
                             graph_.input_size()));
  }
  for (int i = 0; i < graph_.input_size(); ++i) {
    inside.set(graph_.input(i).name(), inputs[static_cast<std::size_t>(i)]);
  }
  inside.lower(graph_);
  return inside.outputs_of(graph_);
}

GraphOutcome InnerGraph::outcome(const std::vector<xla::Shape>& inputs,
                                 std::optional<int> holds) const {
  auto& known = node_.scope().state().outcomes;
  std::string key = outcome_key(inputs, holds);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(std::move(key), new_outcome(inputs, holds)).first->second;
}

// The bytes of all that the outcome depends on.
std::string InnerGraph::outcome_key(const std::vector<xla::Shape>& inputs,
                                    std::optional<int> holds) const {
  std::string key;
  const auto add = [&key](const std::string& part) {
    key += fmt::format("{}:", part.size());
    key += part;
  };
  add(graph_.SerializeAsString());
  for (const auto& [domain, version] : node_.scope().opsets()) {
    add(domain);
    add(std::to_string(version));
  }
  add(std::to_string(holds.value_or(-1)));
  for (const xla::Shape& shape : inputs) add(shape.ToString());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    add(names_[i]);
    add(node_.shape_of_op(outer_[i]).ToString());
  }
  for (const auto& [name, value] : known_) {
    add(name);
    add(value.shape().ToString());
    add({static_cast<const char*>(value.untyped_data()),
         static_cast<std::size_t>(value.size_bytes())});
  }
  return key;
}

GraphOutcome InnerGraph::new_outcome(const std::vector<xla::Shape>& inputs,
                                     std::optional<int> holds) const {
  const auto builder = computation_builder(node_, "outcome");
  std::vector<xla::Shape> all = inputs;
  for (const XlaOp op : outer_) all.push_back(node_.shape_of_op(op));
  std::vector<XlaOp> parameters = parameters_of(*builder, all);
  if (holds) {
    parameters[static_cast<std::size_t>(*holds)] = xla::ConstantR0<bool>(builder.get(), true);
  }
  const auto split = parameters.begin() + std::ssize(inputs);
  const std::vector<XlaOp> made =
      lower(*builder, {parameters.begin(), split}, {split, parameters.end()});
  GraphOutcome outcome{shapes_of(node_, made), std::nullopt};
  if (!made.empty() && outcome.shapes.front().element_type() == xla::PRED) {
    outcome.first = known_condition(node_, made.front());
  }
  return outcome;
}

std::optional<std::int64_t> InnerGraph::counted_steps(const std::vector<XlaOp>& initial,
                                                      std::int64_t most) const {
  std::vector<std::optional<xla::Literal>> known;
  for (const XlaOp op : initial) known.push_back(small_known_value(node_, op));
  const std::int64_t limit = std::min(most, kMostNodesTried / std::max(1, graph_.node_size()));
  for (std::int64_t step = 0; step < limit; ++step) {
    const auto builder = computation_builder(node_, "step");
    std::int64_t parameters = 0;
    const auto unknown = [&](XlaOp like) {
      const std::string name = fmt::format("p{}", parameters);
      return xla::Parameter(builder.get(), parameters++, node_.shape_of_op(like), name);
    };
    std::vector<XlaOp> inputs = {xla::ConstantR0<std::int64_t>(builder.get(), step),
                                 xla::ConstantR0<bool>(builder.get(), true)};
    for (std::size_t i = 0; i < known.size(); ++i) {
      inputs.push_back(known[i] ? xla::ConstantLiteral(builder.get(), *known[i])
                                : unknown(initial[i]));
    }
    std::vector<XlaOp> outer;
    for (const XlaOp op : outer_) outer.push_back(unknown(op));
    const std::vector<XlaOp> made = lower(*builder, inputs, outer);
    const auto goes_on = known_condition(node_, made.front());
    if (!goes_on) return std::nullopt;
    if (!*goes_on) return step + 1;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i]) known[i] = small_known_value(node_, made[i + 1]);
    }
  }
  return limit == most ? std::optional(most) : std::nullopt;
}

std::int64_t nodes_of_step(const onnx::GraphProto& graph, std::int64_t of_loop) {
  std::int64_t count = 0;
  for (const auto& node : graph.node()) {
    const bool is_loop = node.op_type() == "Loop" || node.op_type() == "Scan";
    count += is_loop ? of_loop : 1;
    for (const auto& attribute : node.attribute()) {
      count += nodes_of_step(attribute.g(), of_loop);
    }
  }
  return count;
}

std::optional<bool> known_condition(const Node& node, XlaOp op) {
  if (product(node.sizes_of(op)) != 1 || node.type_of(op) != xla::PRED) {
    node.refuse("has a condition that is not one boolean");
  }
  const auto value = known_value(op);
  if (!value) throw Refusal(value.error());
  if (!*value) return std::nullopt;
  return (*value)->data<bool>()[0];
}

}  // namespace tfaot::toolkit::engine
