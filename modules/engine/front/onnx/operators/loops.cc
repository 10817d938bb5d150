// SPDX-License-Identifier: Apache-2.0
// Operators that hold graphs: choices and loops. What is known while compiling is decided then.
#include "front/onnx/operators/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

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

// Nothing if it depends on the model's inputs, or is large.
std::optional<xla::Literal> small_known_value(const Node& node, XlaOp op) {
  if (product(node.sizes_of(op)) > kMostKnownInside) return std::nullopt;
  return or_refuse(known_value(op));
}

std::vector<xla::Shape> shapes_of(const Node& node, const std::vector<XlaOp>& ops) {
  std::vector<xla::Shape> shapes;
  for (const XlaOp op : ops) shapes.push_back(node.shape_of_op(op));
  return shapes;
}

std::vector<XlaOp> elements_of(XlaOp tuple, std::size_t count) {
  std::vector<XlaOp> elements;
  for (std::size_t i = 0; i < count; ++i) {
    elements.push_back(xla::GetTupleElement(tuple, static_cast<std::int64_t>(i)));
  }
  return elements;
}

// Nodes that one step may become. `of_loop`: those of a loop inside, which may be written out too.
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

// The value of a known scalar.
std::optional<bool> known_condition(const Node& node, XlaOp op) {
  if (product(node.sizes_of(op)) != 1 || node.type_of(op) != xla::PRED)
    node.refuse("has a condition that is not one boolean");
  const auto value = or_refuse(known_value(op));
  if (!value) return std::nullopt;
  return value->data<bool>()[0];
}

// A graph inside of a node, and what it reads of the graphs around. Small known values are
// constants inside, so that what is known stays known.
class InnerGraph {
 public:
  // The references must outlive the object.
  InnerGraph(const Node& node, const onnx::GraphProto& graph) : node_(node), graph_(graph) {
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

  const onnx::GraphProto& graph() const { return graph_; }
  // To be passed to computations that hold the graph.
  const std::vector<XlaOp>& outer() const { return outer_; }

  // The graph's outputs. `outer`: those of outer() as the builder sees them; not needed with the
  // node's own builder.
  std::vector<XlaOp> lower(xla::XlaBuilder& builder, const std::vector<XlaOp>& inputs,
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
      node_.refuse("gives {} values to its graph, which has {} inputs", inputs.size(),
                   graph_.input_size());
    }
    for (int i = 0; i < graph_.input_size(); ++i) {
      inside.set(graph_.input(i).name(), entry(inputs, i));
    }
    inside.lower(graph_);
    return inside.outputs_of(graph_);
  }

  // Results of lower() for inputs like these, of which only `holds` is known: it is true. Lowers a
  // graph once for each kind of inputs: loops in loops would otherwise take twice as long for each
  // level. Throws a Refusal.
  GraphOutcome outcome(const std::vector<xla::Shape>& inputs, std::optional<int> holds = {}) const {
    auto& known = node_.scope().state().outcomes;
    std::string key = outcome_key(inputs, holds);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    return known.emplace(std::move(key), new_outcome(inputs, holds)).first->second;
  }

  // Counts the steps of a Loop of this graph, at most `most`, if its condition follows from the
  // number of the step and the `initial` values that are known: a loop that counts by itself. Tries
  // them one by one. Throws a Refusal.
  std::optional<std::int64_t> counted_steps(const std::vector<XlaOp>& initial,
                                            std::int64_t most) const {
    std::vector<std::optional<xla::Literal>> known;
    for (const XlaOp op : initial) known.push_back(small_known_value(node_, op));
    const std::int64_t limit = std::min(most, kMostNodesTried / std::max(1, graph_.node_size()));
    for (std::int64_t step = 0; step < limit; ++step) {
      const auto builder = computation_builder(node_, "step");
      std::int64_t parameters = 0;
      const auto unknown = [&](XlaOp known_shape) {
        const std::string name = fmt::format("p{}", parameters);
        return xla::Parameter(builder.get(), parameters++, node_.shape_of_op(known_shape), name);
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

 private:
  // The bytes of all that the outcome depends on.
  std::string outcome_key(const std::vector<xla::Shape>& inputs, std::optional<int> holds) const {
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

  GraphOutcome new_outcome(const std::vector<xla::Shape>& inputs, std::optional<int> holds) const {
    const auto builder = computation_builder(node_, "outcome");
    std::vector<xla::Shape> all = inputs;
    for (const XlaOp op : outer_) all.push_back(node_.shape_of_op(op));
    std::vector<XlaOp> parameters = parameters_of(*builder, all);
    if (holds) entry(parameters, *holds) = xla::ConstantR0<bool>(builder.get(), true);
    const auto split = parameters.begin() + std::ssize(inputs);
    const std::vector<XlaOp> made =
        lower(*builder, {parameters.begin(), split}, {split, parameters.end()});
    GraphOutcome outcome{shapes_of(node_, made), std::nullopt};
    if (!made.empty() && outcome.shapes.front().element_type() == xla::PRED) {
      outcome.first = known_condition(node_, made.front());
    }
    return outcome;
  }

  const Node& node_;
  const onnx::GraphProto& graph_;
  std::vector<std::string> names_;  // of outer_
  std::vector<XlaOp> outer_;
  std::map<std::string, xla::Literal> known_;
};

// The parts of a loop's tuple: the number, the state, what is fixed.
LoopStep loop_step(xla::XlaBuilder& builder, const xla::Shape& shape, std::size_t states) {
  const XlaOp whole = xla::Parameter(&builder, 0, shape, "p0");
  const auto all = elements_of(whole, shape.tuple_shapes().size());
  const auto split = all.begin() + 1 + static_cast<std::ptrdiff_t>(states);
  return {builder, all.front(), {all.begin() + 1, split}, {split, all.end()}};
}

xla::XlaComputation loop_condition(const Node& node, const LoopLength& length,
                                   const xla::Shape& shape, std::size_t states) {
  const auto builder = computation_builder(node, "condition");
  const LoopStep step = loop_step(*builder, shape, states);
  std::optional<XlaOp> going;
  if (length.count) going = step.number < *length.count;
  if (length.by_state) {
    const XlaOp wanted = xla::Reshape(step.state.front(), {});
    going = going ? *going & wanted : wanted;
  }
  return built_computation(node, *builder, *going);
}

// A loop of known length is written out if it has at most this many nodes in all; more if it cannot
// be compiled otherwise, because shapes change from step to step.
constexpr std::int64_t kMostNodesInLine = 512, kMostNodesOfChangingShapes = 16384;

void set_all(Node& node, const std::vector<XlaOp>& made) {
  if (std::ssize(made) < node.result_count())
    node.refuse("has {} results, but its graph makes {}", node.result_count(), made.size());
  for (int i = 0; i < node.result_count(); ++i) node.set(i, entry(made, i));
}

// A computation of what the branch reads.
struct Branch {
  xla::XlaComputation computation;
  XlaOp operand;
  std::vector<xla::Shape> shapes;
};
Branch compiled_branch(const Node& node, const std::string& name) {
  const InnerGraph graph(node, node.graph(name));
  const auto read = shapes_of(node, graph.outer());
  const auto builder = computation_builder(node, name);
  const XlaOp whole = xla::Parameter(builder.get(), 0, xla::ShapeUtil::MakeTupleShape(read), "p0");
  const std::vector<XlaOp> made = graph.lower(*builder, {}, elements_of(whole, read.size()));
  auto shapes = shapes_of(node, made);
  return {built_computation(node, *builder, xla::Tuple(builder.get(), made)),
          xla::Tuple(&node.builder(), graph.outer()), std::move(shapes)};
}

void lower_if(Node& node) {
  if (const auto choice = known_condition(node, node.operand(0))) {
    const InnerGraph taken(node, node.graph(*choice ? "then_branch" : "else_branch"));
    return set_all(node, taken.lower(node.builder(), {}, {}));
  }
  const Branch yes = compiled_branch(node, "then_branch");
  const Branch no = compiled_branch(node, "else_branch");
  const bool same = std::ranges::equal(yes.shapes, no.shapes, xla::ShapeUtil::Compatible);
  if (!same)
    node.refuse(
        "has branches with results of different shapes, and its condition depends on the model's "
        "inputs");
  const XlaOp chosen = xla::Conditional(xla::Reshape(node.operand(0), {}), yes.operand,
                                        yes.computation, no.operand, no.computation);
  set_all(node, elements_of(chosen, yes.shapes.size()));
}

// The steps of each scan output, joined along a new dimension.
XlaOp joined_steps(const Node& node, const std::vector<XlaOp>& steps) {
  std::vector<XlaOp> rows;
  for (const XlaOp step : steps) {
    rows.push_back(xla::Reshape(step, with_new(node.sizes_of(step), 0, 1)));
  }
  return xla::ConcatInDim(&node.builder(), rows, 0);
}

XlaOp no_steps(const Node& node, const xla::Shape& step, std::int64_t count) {
  const auto sizes = step.dimensions();
  return zeros_of(node, step.element_type(), joined({count}, {sizes.begin(), sizes.end()}));
}

// The input of a Loop's graph that is true in each step that is done.
constexpr int kConditionInput = 1;

// A Loop: at most `most` steps, as long as the condition holds.
class OnnxLoop {
 public:
  explicit OnnxLoop(Node& node) : node_(node), body_(node, node.graph("body")) {
    for (int i = 2; i < node.operand_count(); ++i) initial_.push_back(node.operand(i));
    if (body_.graph().output_size() < std::ssize(initial_) + 1)
      node.refuse("has a graph that makes too few values");
    nodes_ = std::max<std::int64_t>(1, nodes_of_step(body_.graph(), kMostNodesInLine));
    if (!node.has(0)) {
      most_ = std::numeric_limits<std::int64_t>::max();
    } else if (const auto counts = node.integers_if_known(0)) {
      if (counts->size() != 1) node.refuse("needs one trip count");
      most_ = std::max<std::int64_t>(0, counts->front());
    }
    start_ = node.has(1) ? known_condition(node, node.operand(1)) : std::optional(true);
  }

  void lower() {
    if (start_ == false) most_ = 0;
    const bool can_end = most_ && start_;
    if (can_end && (in_line(kMostNodesInLine) || *most_ == 0)) {
      if (write_out(*most_ == 0 ? 1 : kMostNodesInLine)) return;
    }
    GraphOutcome outcome;
    try {
      outcome = body_.outcome(shapes_of_inputs(), kConditionInput);
      check_shapes(outcome);
    } catch (const Refusal&) {
      if (can_end && write_out(kMostNodesOfChangingShapes)) return;
      throw;
    }
    loop(outcome);
  }

 private:
  std::int64_t states() const { return std::ssize(initial_); }
  // A count that is far too large is there for loops that end by their condition.
  bool in_line(std::int64_t nodes) const {
    return *most_ <= nodes / nodes_ || (node_.has(1) && *most_ > (1 << 20));
  }

  std::vector<xla::Shape> shapes_of_inputs() const {
    std::vector<xla::Shape> shapes = {shape_of(xla::S64, {}), shape_of(xla::PRED, {})};
    for (const XlaOp value : initial_) shapes.push_back(node_.shape_of_op(value));
    return shapes;
  }

  void check_shapes(const GraphOutcome& outcome) const {
    for (std::int64_t i = 0; i < states(); ++i) {
      const xla::Shape before = node_.shape_of_op(entry(initial_, i));
      if (!xla::ShapeUtil::Compatible(entry(outcome.shapes, i + 1), before)) {
        node_.refuse(
            "has a value '{}' that changes its shape from step to step, and the "
            "number of steps is not known or too large",
            body_.graph().input(static_cast<int>(i) + 2).name());
      }
    }
  }

  // Step after step with what is known in each; false if the end is not known.
  bool write_out(std::int64_t nodes) {
    xla::XlaBuilder& builder = node_.builder();
    std::vector<XlaOp> state = initial_;
    std::vector<std::vector<XlaOp>> scanned(
        static_cast<std::size_t>(body_.graph().output_size() - states() - 1));
    XlaOp going = xla::ConstantR0<bool>(&builder, true);
    std::int64_t step = 0;
    for (; step < *most_; ++step) {
      if (step >= nodes / nodes_) return false;
      std::vector<XlaOp> inputs = {xla::ConstantR0<std::int64_t>(&builder, step), going};
      inputs.insert(inputs.end(), state.begin(), state.end());
      const std::vector<XlaOp> made = body_.lower(builder, inputs, {});
      state.assign(made.begin() + 1, made.begin() + 1 + states());
      for (std::size_t i = 0; i < scanned.size(); ++i) {
        scanned[i].push_back(made[i + 1 + state.size()]);
      }
      if (!node_.has(1)) continue;
      going = made.front();
      const auto goes_on = known_condition(node_, going);
      if (!goes_on) return false;
      if (!*goes_on) {
        ++step;
        break;
      }
    }
    std::vector<XlaOp> results = state;
    if (step == 0 && !scanned.empty()) {
      const auto outcome = body_.outcome(shapes_of_inputs(), kConditionInput);
      for (std::size_t i = state.size() + 1; i < outcome.shapes.size(); ++i) {
        results.push_back(no_steps(node_, outcome.shapes[i], 0));
      }
    } else {
      for (const auto& steps : scanned) results.push_back(joined_steps(node_, steps));
    }
    set_all(node_, results);
    return true;
  }

  // As XLA's While. Its state: whether to go on, the values, the scan outputs.
  void loop(const GraphOutcome& outcome) {
    const std::size_t scans = outcome.shapes.size() - initial_.size() - 1;
    const bool known = start_ == true && (!node_.has(1) || outcome.first == true);
    const auto counted = scans > 0 && !known && most_ && start_
                             ? body_.counted_steps(initial_, *most_)
                             : std::nullopt;
    if (counted) most_ = counted;
    const bool always = known || counted;
    const bool count_known = most_ && *most_ < std::numeric_limits<std::int64_t>::max();
    if (scans > 0 && !(always && count_known))
      node_.refuse("collects values of steps whose number depends on the model's inputs");
    if (always && most_ && !count_known) node_.refuse("never ends");
    std::vector<XlaOp> state = {node_.has(1) ? xla::Reshape(node_.operand(1), {})
                                             : xla::ConstantR0<bool>(&node_.builder(), true)};
    std::vector<XlaOp> fixed = body_.outer();
    if (!most_) {
      const XlaOp count = cast(xla::Reshape(node_.operand(0), {}), xla::S64);
      state.front() = state.front() & (count > xla::ZerosLike(count));
      fixed.push_back(count);
    }
    state.insert(state.end(), initial_.begin(), initial_.end());
    for (std::size_t i = 0; i < scans; ++i) {
      state.push_back(no_steps(node_, outcome.shapes[i + 1 + initial_.size()], *most_));
    }
    LoopLength length;
    if (count_known) length.count = most_;
    length.by_state = !always || !count_known;
    const auto last = run_loop(node_, length, state, fixed,
                               [&](const LoopStep& step) { return next_state(step, always); });
    set_all(node_, {last.begin() + 1, last.end()});
  }

  std::vector<XlaOp> next_state(const LoopStep& step, bool always) const {
    const XlaOp yes = xla::ConstantR0<bool>(&step.builder, true);
    std::vector<XlaOp> inputs = {step.number, always ? yes : step.state.front()};
    const auto values = step.state.begin() + 1;
    inputs.insert(inputs.end(), values, values + states());
    const std::vector<XlaOp> outer(step.fixed.begin(),
                                   step.fixed.begin() + std::ssize(body_.outer()));
    const std::vector<XlaOp> made = body_.lower(step.builder, inputs, outer);
    std::vector<XlaOp> next = {node_.has(1) ? xla::Reshape(made.front(), {}) : yes};
    if (step.fixed.size() > outer.size()) {
      const XlaOp number = step.number + 1;
      next.front() = next.front() & (number < step.fixed.back());
    }
    next.insert(next.end(), made.begin() + 1, made.begin() + 1 + states());
    for (std::size_t i = next.size(); i < step.state.size(); ++i) {
      next.push_back(with_step(node_, step.state[i], made[i], step.number));
    }
    return next;
  }

  Node& node_;
  InnerGraph body_;
  std::vector<XlaOp> initial_;
  std::int64_t nodes_ = 1;
  std::optional<std::int64_t> most_;  // none: it depends on inputs
  std::optional<bool> start_;         // true: there is a first step
};

void lower_loop(Node& node) { OnnxLoop(node).lower(); }

// A Scan over sequences: which dimension each operand and result has its steps along.
struct ScannedSequence {
  std::int64_t axis = 0;
  bool backward = false;
};

class OnnxScan {
 public:
  explicit OnnxScan(Node& node) : node_(node), body_(node, node.graph("body")) {
    inputs_.resize(
        static_cast<std::size_t>(std::max<std::int64_t>(0, node.integer("num_scan_inputs"))));
    states_ = body_.graph().input_size() - std::ssize(inputs_);
    if (states_ < 0 || body_.graph().output_size() < states_)
      node.refuse("has a graph of too few values");
    outputs_.resize(static_cast<std::size_t>(body_.graph().output_size() - states_));
    if (inputs_.empty()) node.refuse("has nothing to scan");
    read_directions(node.opset() < 9 ? "directions" : "scan_input_directions", inputs_);
    read_directions("scan_output_directions", outputs_);
  }

  // States, then sequences; one result for each state and each output.
  std::vector<XlaOp> scan(const std::vector<XlaOp>& operands) {
    const auto split = operands.begin() + states_;
    std::vector<XlaOp> state(operands.begin(), split);
    std::vector<XlaOp> sequences(split, operands.end());
    read_axes("scan_input_axes", inputs_, sequences);
    const std::int64_t count = entry(node_.sizes_of(sequences.front()), inputs_.front().axis);
    std::vector<xla::Shape> shapes = shapes_of(node_, state);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const Dimensions sizes = node_.sizes_of(sequences[i]);
      const std::int64_t axis = inputs_[i].axis;
      if (entry(sizes, axis) != count) node_.refuse("scans sequences of different lengths");
      shapes.push_back(shape_of(node_.type_of(sequences[i]), without(sizes, axis)));
    }
    const auto outcome = body_.outcome(shapes);
    for (std::size_t i = state.size(); i < outcome.shapes.size(); ++i) {
      state.push_back(no_steps(node_, outcome.shapes[i], count));
    }
    std::vector<XlaOp> fixed = sequences;
    fixed.insert(fixed.end(), body_.outer().begin(), body_.outer().end());
    state = run_loop(node_, {.count = count}, state, fixed,
                     [&](const LoopStep& step) { return next_state(step, count); });
    const auto axes = node_.integers("scan_output_axes");
    for (std::size_t i = 0; i < outputs_.size() && i < axes.size(); ++i) {
      XlaOp& output = state[static_cast<std::size_t>(states_) + i];
      const auto rank = std::ssize(node_.sizes_of(output));
      output =
          xla::Transpose(output, with_new(dimension_range(1, rank), node_.axis(axes[i], rank), 0));
    }
    return state;
  }

 private:
  void read_directions(const std::string& name, std::vector<ScannedSequence>& sequences) const {
    const auto given = node_.integers(name);
    for (std::size_t i = 0; i < sequences.size() && i < given.size(); ++i) {
      sequences[i].backward = given[i] != 0;
    }
  }

  void read_axes(const std::string& name, std::vector<ScannedSequence>& sequences,
                 const std::vector<XlaOp>& values) const {
    if (values.size() != sequences.size()) node_.refuse("has too few operands");
    const auto given = node_.integers(name);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const auto rank = std::ssize(node_.sizes_of(values[i]));
      sequences[i].axis = node_.axis(i < given.size() ? given[i] : 0, rank);
    }
  }

  std::vector<XlaOp> next_state(const LoopStep& step, std::int64_t count) const {
    const XlaOp back = (count - 1) - step.number;
    const auto place = [&](const ScannedSequence& of) { return of.backward ? back : step.number; };
    std::vector<XlaOp> values(step.state.begin(), step.state.begin() + states_);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      values.push_back(at_step(node_, step.fixed[i], inputs_[i].axis, place(inputs_[i])));
    }
    std::vector<XlaOp> next = body_.lower(
        step.builder, values, {step.fixed.begin() + std::ssize(inputs_), step.fixed.end()});
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      XlaOp& made = next[static_cast<std::size_t>(states_) + i];
      made = with_step(node_, step.state[static_cast<std::size_t>(states_) + i], made,
                       place(outputs_[i]));
    }
    return next;
  }

  Node& node_;
  InnerGraph body_;
  std::int64_t states_ = 0;
  std::vector<ScannedSequence> inputs_;
  std::vector<ScannedSequence> outputs_;
};

// Opset 8: all operands have a batch first, whose rows are scanned each by itself.
void lower_batched_scan(Node& node) {
  if (node.has(0)) node.refuse("has sequence_lens, which cannot be compiled");
  std::vector<XlaOp> operands;
  for (int i = 1; i < node.operand_count(); ++i) operands.push_back(node.operand(i));
  if (operands.empty()) node.refuse("has no operands");
  const Dimensions sizes = node.sizes_of(operands.front());
  if (sizes.empty()) node.refuse("needs a batch");
  std::vector<std::vector<XlaOp>> results;
  for (std::int64_t row = 0; row < sizes.front(); ++row) {
    std::vector<XlaOp> of_row;
    const XlaOp place = constant_integer(node, row);
    for (const XlaOp operand : operands) of_row.push_back(at_step(node, operand, 0, place));
    const auto made = OnnxScan(node).scan(of_row);
    results.resize(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) results[i].push_back(made[i]);
  }
  std::vector<XlaOp> all;
  for (const auto& rows : results) all.push_back(joined_steps(node, rows));
  set_all(node, all);
}

void lower_scan(Node& node) {
  if (node.opset() < 9) return lower_batched_scan(node);
  set_all(node, OnnxScan(node).scan(node.operands()));
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
  return node.made(builder.Build(root));
}

std::vector<XlaOp> run_loop(const Node& node, LoopLength length, std::vector<XlaOp> state,
                            const std::vector<XlaOp>& fixed,
                            const std::function<std::vector<XlaOp>(const LoopStep&)>& step) {
  const bool is_elsewhere = !state.empty() && !state.front().IsUninitialized();
  xla::XlaBuilder& builder = is_elsewhere ? *state.front().builder() : node.builder();
  const auto number = [&](std::int64_t i) { return xla::ConstantR0<std::int64_t>(&builder, i); };
  if (length.count && *length.count <= kMostStepsInLine && !length.by_state && !length.is_while) {
    for (std::int64_t i = 0; i < *length.count; ++i) {
      state = step({builder, number(i), state, fixed});
    }
    return state;
  }
  std::vector<XlaOp> all = {number(0)};
  all.insert(all.end(), state.begin(), state.end());
  all.insert(all.end(), fixed.begin(), fixed.end());
  const xla::Shape shape = xla::ShapeUtil::MakeTupleShape(shapes_of(node, all));
  const auto body = computation_builder(node, "body");
  const LoopStep inside = loop_step(*body, shape, state.size());
  const std::vector<XlaOp> made = step(inside);
  std::vector<XlaOp> next = {inside.number + 1};
  for (std::size_t i = 0; i < made.size(); ++i) {
    const xla::Shape before = node.shape_of_op(state[i]);
    if (!xla::ShapeUtil::Compatible(node.shape_of_op(made[i]), before)) {
      node.refuse("has a value {} that changes its shape from step to step: from {} to {}", i,
                  xla::ShapeUtil::HumanString(before),
                  xla::ShapeUtil::HumanString(node.shape_of_op(made[i])));
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
  const Dimensions sizes = node.sizes_of(x);
  std::vector<XlaOp> start(sizes.size(), xla::ZerosLike(place));
  entry(start, axis) = place;
  const XlaOp one = xla::DynamicSlice(x, start, with_size(sizes, axis, 1));
  return xla::Reshape(one, without(sizes, axis));
}

XlaOp with_step(const Node& node, XlaOp all, XlaOp one, XlaOp place) {
  const Dimensions sizes = with_new(node.sizes_of(one), 0, 1);
  std::vector<XlaOp> start(sizes.size(), xla::ZerosLike(place));
  start.front() = place;
  return xla::DynamicUpdateSlice(all, xla::Reshape(one, sizes), start);
}

std::vector<OnnxOperator> loop_operators() {
  return {
      {"If", 1, lower_if, {.better_known = {0}}},
      {"Loop", 1, lower_loop, {.better_known = {0, 1}}},
      {"Scan", 8, lower_scan},
  };
}

}  // namespace tfaot::toolkit::engine
