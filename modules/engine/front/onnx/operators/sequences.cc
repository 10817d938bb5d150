// SPDX-License-Identifier: Apache-2.0
// Control flow and sequences. If, Loop and Scan, which hold graphs; whatever is known at compile
// time is decided then. RNN, GRU, LSTM, and attention. A step of a recurrent layer multiplies its
// input by W and its state by R, then applies the gates, in the form that other frameworks write
// and compiler/kernels/recurrent_calls.cc recognises.

#include "front/onnx/onnx_source.h"
#include "front/onnx/operators/building.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::int64_t kMostStepsInLine = 4;
// Larger values are passed to inner graphs, even if they are known.
constexpr std::int64_t kMostKnownInside = 4096;
// Limits the nodes that are lowered to count a loop's steps.
constexpr std::int64_t kMostNodesTried = 65536;

std::vector<XlaOp> parameters_of(xla::XlaBuilder& builder, const std::vector<xla::Shape>& shapes) {
  std::int64_t number = -1;
  return mapped(shapes, [&](const xla::Shape& shape) {
    ++number;
    return xla::Parameter(&builder, number, shape, fmt::format("p{}", number));
  });
}

// The value; nothing if it depends on the model's inputs, or is large.
std::optional<xla::Literal> small_known_value(const Node& node, XlaOp op) {
  if (product(node.sizes_of(op)) > kMostKnownInside) return std::nullopt;
  return or_refuse(known_value(op));
}

std::vector<xla::Shape> shapes_of(const Node& node, const std::vector<XlaOp>& ops) {
  return mapped(ops, [&](XlaOp op) { return node.shape_of_op(op); });
}

std::vector<XlaOp> elements_of(XlaOp tuple, std::int64_t count, std::int64_t first = 0) {
  return mapped(counted(count, first),
                [&](std::int64_t i) { return xla::GetTupleElement(tuple, i); });
}

// The number of nodes of one step. `of_loop`: the number for an inner loop, which may be unrolled
// too.
std::int64_t nodes_of_step(const onnx::GraphProto& graph, std::int64_t of_loop) {
  std::int64_t count = 0;
  for_each_node(graph.node(), [&](const onnx::NodeProto& node) {
    count += node.op_type() == "Loop" || node.op_type() == "Scan" ? of_loop : 1;
  });
  return count;
}

// The condition, if it is known.
std::optional<bool> known_condition(const Node& node, XlaOp op) {
  if (product(node.sizes_of(op)) != 1 || node.type_of(op) != xla::PRED)
    node.refuse("has a condition that is not one boolean");
  const auto value = or_refuse(known_value(op));
  if (!value) return std::nullopt;
  return value->data<bool>()[0];
}

// A graph inside a node, and the values that it reads from enclosing graphs. Small known values
// become constants inside, so that they stay known.
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
  // The values to pass to computations that hold the graph.
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

  // Results of lower() for unknown inputs of these shapes; only input `holds` is known to be true.
  // Cached, since otherwise each level of nested loops would double the time. Throws a Refusal.
  GraphOutcome outcome(const std::vector<xla::Shape>& inputs, std::optional<int> holds = {}) const {
    auto& known = node_.scope().state().outcomes;
    std::string key = outcome_key(inputs, holds);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    return known.emplace(std::move(key), new_outcome(inputs, holds)).first->second;
  }

  // Counts the steps of a Loop over this graph, at most `most`, by trying them one by one. Nothing
  // if its condition depends on more than the step's number and known `initial` values. Throws a
  // Refusal.
  std::optional<std::int64_t> counted_steps(const std::vector<XlaOp>& initial,
                                            std::int64_t most) const {
    auto known = mapped(initial, [&](XlaOp op) { return small_known_value(node_, op); });
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
      const std::vector<XlaOp> made = lower(*builder, inputs, mapped(outer_, unknown));
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
  // Serialises everything that the outcome depends on.
  std::string outcome_key(const std::vector<xla::Shape>& inputs, std::optional<int> holds) const {
    std::string key;
    const auto add = [&key](const std::string& part) {
      key += fmt::format("{}:", part.size());
      key += part;
    };
    add(fmt::format("{} {}", fmt::ptr(&graph_), holds.value_or(-1)));
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

// Takes the parameter of a loop's computation apart: number, state, fixed values.
LoopStep loop_step(xla::XlaBuilder& builder, const xla::Shape& shape, std::size_t states) {
  const XlaOp whole = xla::Parameter(&builder, 0, shape, "p0");
  const auto all = elements_of(whole, std::ssize(shape.tuple_shapes()));
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

// A loop of known length is unrolled if it becomes at most this many nodes; the higher limit is for
// loops whose shapes change from step to step, which cannot be compiled otherwise.
constexpr std::int64_t kMostNodesInLine = 512, kMostNodesOfChangingShapes = 16384;

void set_all(Node& node, const std::vector<XlaOp>& made) {
  if (std::ssize(made) < node.result_count())
    node.refuse("has {} results, but its graph makes {}", node.result_count(), made.size());
  for (int i = 0; i < node.result_count(); ++i) node.set(i, entry(made, i));
}

// A branch of an If as a computation of the values that it reads.
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
  const std::vector<XlaOp> made = graph.lower(*builder, {}, elements_of(whole, std::ssize(read)));
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
  set_all(node, elements_of(chosen, std::ssize(yes.shapes)));
}

XlaOp no_steps(const Node& node, const xla::Shape& step, std::int64_t count) {
  return zeros_of(node, step.element_type(), joined({{count}, step.dimensions()}));
}

// The input of a Loop's graph that is true in each executed step.
constexpr int kConditionInput = 1;

// A Loop: at most `most_` steps, as long as the condition holds.
class OnnxLoop {
 public:
  explicit OnnxLoop(Node& node)
      : node_(node), body_(node, node.graph("body")), initial_(node.operands(2)) {
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
    const bool keeps_loop = node_.scope().state().follows_sizes;
    if (can_end && ((!keeps_loop && in_line(kMostNodesInLine)) || *most_ == 0)) {
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
  // Exporters write a huge count for loops that end by their condition.
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

  // Unrolls the loop with the values known in each step; false if the end is not known.
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
      for (const auto& steps : scanned) results.push_back(stack(node_, steps, 0));
    }
    set_all(node_, results);
    return true;
  }

  // Builds an XLA While. Its state: the condition, the values, the scan outputs.
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

// The dimension and direction of the steps of an operand or a result of Scan.
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

  // Operands: states, then sequences. Returns one result for each state and each output.
  std::vector<XlaOp> scan(const std::vector<XlaOp>& operands) {
    const auto split = operands.begin() + states_;
    std::vector<XlaOp> state(operands.begin(), split);
    std::vector<XlaOp> sequences(split, operands.end());
    if (sequences.size() != inputs_.size()) node_.refuse("has too few operands");
    const auto input_axes = node_.integers("scan_input_axes");
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto rank = std::ssize(node_.sizes_of(sequences[i]));
      inputs_[i].axis = node_.axis(i < input_axes.size() ? input_axes[i] : 0, rank);
    }
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
      output = xla::Transpose(output, with_new(counted(rank - 1, 1), node_.axis(axes[i], rank), 0));
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

// Opset 8: the first dimension is a batch, whose rows are scanned separately.
void lower_batched_scan(Node& node) {
  if (node.has(0)) node.refuse("has sequence_lens, which cannot be compiled");
  const std::vector<XlaOp> operands = node.operands(1);
  if (operands.empty()) node.refuse("has no operands");
  const Dimensions sizes = node.sizes_of(operands.front());
  if (sizes.empty()) node.refuse("needs a batch");
  std::vector<std::vector<XlaOp>> results;
  for (std::int64_t row = 0; row < sizes.front(); ++row) {
    const XlaOp place = constant_integer(node, row);
    const auto made = OnnxScan(node).scan(
        mapped(operands, [&](XlaOp operand) { return at_step(node, operand, 0, place); }));
    results.resize(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) results[i].push_back(made[i]);
  }
  set_all(node, mapped(results, [&](const auto& rows) { return stack(node, rows, 0); }));
}

void lower_scan(Node& node) {
  if (node.opset() < 9) return lower_batched_scan(node);
  set_all(node, OnnxScan(node).scan(node.operands()));
}

// An activation: the parameters that it takes, with their defaults, and its formula.
struct GateActivationKind {
  const char* name;
  std::optional<float> alpha;
  std::optional<float> beta;
  XlaOp (*formula)(XlaOp x, float alpha, float beta);
};

struct GateActivation {
  const GateActivationKind* kind = nullptr;
  float alpha = 0;
  float beta = 0;
  XlaOp of(XlaOp x) const { return kind->formula(x, alpha, beta); }
};

constexpr std::optional<float> kNone;
constexpr auto kGateActivations = std::to_array<GateActivationKind>({
    {"affine", 1.0F, 0.0F, [](XlaOp x, float alpha, float beta) { return alpha * x + beta; }},
    {"elu", 1.0F, kNone, [](XlaOp x, float alpha, float) { return elu(x, alpha); }},
    {"hardsigmoid", 0.2F, 0.5F, hard_sigmoid},
    {"leakyrelu", 0.01F, kNone, [](XlaOp x, float alpha, float) { return leaky_relu(x, alpha); }},
    {"relu", kNone, kNone, [](XlaOp x, float, float) { return relu(x); }},
    {"scaledtanh", 1.0F, 1.0F,
     [](XlaOp x, float alpha, float beta) { return alpha * xla::Tanh(beta * x); }},
    {"sigmoid", kNone, kNone, [](XlaOp x, float, float) { return xla::Logistic(x); }},
    {"softplus", kNone, kNone, [](XlaOp x, float, float) { return softplus(x); }},
    {"softsign", kNone, kNone, [](XlaOp x, float, float) { return softsign(x); }},
    {"tanh", kNone, kNone, [](XlaOp x, float, float) { return xla::Tanh(x); }},
    {"thresholdedrelu", 1.0F, kNone,
     [](XlaOp x, float alpha, float) { return xla::Select(x >= alpha, x, like(x, 0)); }},
});

// The activations of all directions. `usual`: the defaults of one direction. Activations with
// parameters take the node's in order.
std::vector<GateActivation> gate_activations(const Node& node,
                                             const std::vector<std::string>& usual,
                                             std::int64_t directions) {
  std::vector<std::string> names = node.texts("activations");
  const std::size_t wanted = usual.size() * static_cast<std::size_t>(directions);
  // RNN's default has two activations, also for one direction.
  if (names.size() > wanted && directions == 1 && usual.size() == 1) names.resize(1);
  while (node.texts("activations").empty() && names.size() < wanted) {
    names.insert(names.end(), usual.begin(), usual.end());
  }
  if (names.size() != wanted) node.refuse("has {} activations instead of {}", names.size(), wanted);
  const auto alphas = node.reals("activation_alpha");
  const auto betas = node.reals("activation_beta");
  auto alpha = alphas.begin();
  auto beta = betas.begin();
  std::vector<GateActivation> activations;
  for (const std::string& name : names) {
    const auto* const kind =
        std::ranges::find(kGateActivations, lower_case(name), &GateActivationKind::name);
    if (kind == kGateActivations.end()) node.refuse("has the activation '{}'", name);
    GateActivation one{kind};
    if (kind->alpha) one.alpha = alpha == alphas.end() ? *kind->alpha : *alpha++;
    if (kind->beta) one.beta = beta == betas.end() ? *kind->beta : *beta++;
    activations.push_back(one);
  }
  return activations;
}

// One direction of one layer.
struct Cell {
  const Node& node;
  std::int64_t hidden = 0;
  std::vector<GateActivation> activations;
  std::optional<float> clip;

  XlaOp gate(std::size_t activation, XlaOp x) const {
    if (clip) x = xla::Clamp(like(x, -*clip), x, like(x, *clip));
    return activations[activation].of(x);
  }
  // The columns [hidden * which, hidden * (which + count)).
  XlaOp columns(XlaOp x, std::int64_t which, std::int64_t count = 1) const {
    const std::int64_t last = std::ssize(node.sizes_of(x)) - 1;
    return xla::SliceInDim(x, which * hidden, (which + count) * hidden, 1, last);
  }
};

// Values of one direction that are the same for all steps; invalid if not given.
struct CellWeights {
  XlaOp recurrence;
  // GRU: R of the hidden gate if the state is reset before the product, else that gate's own bias.
  XlaOp hidden = {};
  XlaOp peepholes = {};
  XlaOp x, input;  // all steps' input, and W
  XlaOp bias = {}, lengths = {};

  // The values that are given, in the order in which a loop passes them.
  std::vector<XlaOp*> given() {
    std::vector<XlaOp*> all = {&recurrence, &hidden, &peepholes, &x, &input, &bias, &lengths};
    std::erase_if(all, [](const XlaOp* one) { return !one->valid(); });
    return all;
  }
};

// Computes the next state from `x`, the step's input times W with its bias, and the state.
using CellState = std::vector<XlaOp>;
struct CellKind {
  std::int64_t gates = 1;
  std::int64_t states = 1;
  std::vector<std::string> activations;
  CellState (*next)(const Cell& cell, XlaOp x, const CellState& state,
                    const CellWeights& weights) = nullptr;
};

CellState rnn_next(const Cell& cell, XlaOp x, const CellState& state, const CellWeights& weights) {
  return {cell.gate(0, x + times_transposed(state[0], weights.recurrence))};
}

bool resets_after_product(const Cell& cell) { return cell.node.flag("linear_before_reset"); }

// Gates z, r, h. If the product is reset, so is the hidden gate's recurrent bias.
CellState gru_next(const Cell& cell, XlaOp x, const CellState& state, const CellWeights& weights) {
  const XlaOp h = state[0];
  const XlaOp product = times_transposed(h, weights.recurrence);
  const auto gate = [&](std::int64_t which) {
    return cell.gate(0, cell.columns(x, which) + cell.columns(product, which));
  };
  const XlaOp update = gate(0);
  const XlaOp reset = gate(1);
  XlaOp hidden;
  if (resets_after_product(cell)) {
    hidden = cell.columns(product, 2);
    if (weights.hidden.valid()) hidden = hidden + along_last(cell.node, weights.hidden, hidden);
    hidden = reset * hidden;
  } else {
    hidden = times_transposed(reset * h, weights.hidden);
  }
  hidden = cell.gate(1, cell.columns(x, 2) + hidden);
  const XlaOp rest = like(update, 1) - update;
  return {rest * hidden + update * h};
}

// Gates i, o, f, c; peepholes i, o, f. The state is h, then c.
CellState lstm_next(const Cell& cell, XlaOp x, const CellState& state, const CellWeights& weights) {
  const XlaOp before = state[1];
  const XlaOp sum = x + times_transposed(state[0], weights.recurrence);
  const auto gate = [&](std::int64_t which, XlaOp seen) {
    XlaOp in = cell.columns(sum, which);
    if (weights.peepholes.valid()) {
      const XlaOp peephole = along_last(cell.node, cell.columns(weights.peepholes, which), in);
      in = in + peephole * seen;
    }
    return cell.gate(0, in);
  };
  const XlaOp input = gate(0, before);
  const bool coupled = cell.node.flag("input_forget");
  const XlaOp forget = coupled ? like(input, 1) - input : gate(2, before);
  const XlaOp candidate = cell.gate(1, cell.columns(sum, 3));
  const XlaOp memory = forget * before + input * candidate;
  // The memory is not clipped.
  return {gate(1, memory) * cell.activations[2].of(memory), memory};
}

// A recurrent layer; its members have the layout of layout=0.
class RecurrentLayer {
 public:
  RecurrentLayer(Node& node, CellKind kind) : node_(node), kind_(std::move(kind)) {
    batch_first_ = node.flag("layout");
    const std::string direction = node.word("direction", {"forward", "reverse", "bidirectional"});
    first_is_reverse_ = direction == "reverse";
    x_ = batch_first_ ? xla::Transpose(node.operand(0), {1, 0, 2}) : node.operand(0);
    const Dimensions sizes = node.sizes_of(x_);
    const Dimensions recurrence = node.sizes(2);
    directions_ = direction == "bidirectional" ? 2 : 1;
    if (sizes.size() != 3 || recurrence.size() != 3) node.refuse("needs three dimensions");
    steps_ = sizes[0];
    rows_ = sizes[1];
    hidden_ = recurrence[2];
    const std::int64_t width = kind_.gates * hidden_;
    if (recurrence != Dimensions{directions_, width, hidden_} ||
        node.sizes(1) != Dimensions{directions_, width, sizes[2]}) {
      node.refuse("has weights of other sizes than its input and hidden_size");
    }
  }

  void lower() {
    const auto activations = gate_activations(node_, kind_.activations, directions_);
    std::vector<XlaOp> sequences;
    std::vector<std::vector<XlaOp>> last(static_cast<std::size_t>(kind_.states));
    for (std::int64_t which = 0; which < directions_; ++which) {
      Cell cell{node_, hidden_, {}, std::nullopt};
      const auto first = activations.begin() + which * std::ssize(kind_.activations);
      cell.activations.assign(first, first + std::ssize(kind_.activations));
      if (node_.has_attribute("clip")) cell.clip = node_.real("clip", 0);
      const auto made = run_direction(cell, which);
      for (std::size_t i = 0; i < last.size(); ++i) last[i].push_back(made[i]);
      if (node_.wants(0)) sequences.push_back(made.back());
    }
    if (node_.wants(0)) {
      const XlaOp all = stack(node_, sequences, 1);
      node_.set(0, batch_first_ ? xla::Transpose(all, {2, 0, 1, 3}) : all);
    }
    for (std::size_t i = 0; i < last.size(); ++i) {
      const XlaOp all = stack(node_, last[i], 0);
      node_.set(static_cast<int>(i) + 1, batch_first_ ? xla::Transpose(all, {1, 0, 2}) : all);
    }
  }

 private:
  bool is_reverse(std::int64_t which) const { return first_is_reverse_ || which == 1; }

  XlaOp of_direction(XlaOp x, std::int64_t which) const { return part_at(node_, x, which, 0); }

  XlaOp initial_state(std::int64_t which, int operand) const {
    if (!node_.has(operand)) return zeros_of(node_, node_.type(0), {rows_, hidden_});
    XlaOp all = node_.operand(operand);
    if (batch_first_) all = xla::Transpose(all, {1, 0, 2});
    return of_direction(all, which);
  }

  CellWeights weights_of_direction(const Cell& cell, std::int64_t which) const {
    const auto part = [](XlaOp values, std::int64_t from, std::int64_t to) {
      return xla::SliceInDim(values, from, to, 1, 0);
    };
    const bool is_gru = kind_.gates == 3;
    CellWeights weights{.recurrence = of_direction(node_.operand(2), which),
                        .x = x_,
                        .input = of_direction(node_.operand(1), which)};
    if (node_.has(3)) {
      const XlaOp both = of_direction(node_.operand(3), which);
      const std::int64_t width = kind_.gates * hidden_;
      XlaOp own = part(both, width, 2 * width);
      if (is_gru && resets_after_product(cell)) {
        weights.hidden = cell.columns(own, 2);
        own = xla::ConcatInDim(own.builder(),
                               {cell.columns(own, 0, 2), xla::ZerosLike(weights.hidden)}, 0);
      }
      weights.bias = part(both, 0, width) + own;
    }
    if (is_gru && !resets_after_product(cell)) {
      weights.hidden = part(weights.recurrence, 2 * hidden_, 3 * hidden_);
      weights.recurrence = part(weights.recurrence, 0, 2 * hidden_);
    }
    if (node_.has(4)) weights.lengths = cast(node_.operand(4), xla::S64);
    if (node_.has(7)) weights.peepholes = of_direction(node_.operand(7), which);
    return weights;
  }

  // Returns the last states, then h of all steps if they are wanted.
  std::vector<XlaOp> run_direction(const Cell& cell, std::int64_t which) const {
    std::vector<XlaOp> state;
    for (int i = 0; i < kind_.states; ++i) state.push_back(initial_state(which, 5 + i));
    if (node_.wants(0)) {
      state.push_back(zeros_of(node_, node_.type(0), {steps_, rows_, hidden_}));
    }
    CellWeights weights = weights_of_direction(cell, which);
    const auto fixed = mapped(weights.given(), [](const XlaOp* one) { return *one; });
    return run_loop(node_, {.count = steps_}, state, fixed, [&](const LoopStep& step) {
      auto next = step.fixed.begin();
      for (XlaOp* const one : weights.given()) *one = *next++;  // as the loop's body sees them
      return next_state(cell, is_reverse(which), step, weights);
    });
  }

  // Rows whose sequence has ended, or in reverse not begun, keep their state.
  std::vector<XlaOp> next_state(const Cell& cell, bool reverse, const LoopStep& step,
                                const CellWeights& weights) const {
    const XlaOp place = reverse ? like(step.number, steps_ - 1) - step.number : step.number;
    const CellState before(step.state.begin(), step.state.begin() + kind_.states);
    XlaOp x = times_transposed(at_step(node_, weights.x, 0, place), weights.input);
    if (weights.bias.valid()) x = x + along_last(node_, weights.bias, x);
    CellState next = kind_.next(cell, x, before, weights);
    XlaOp shown = next.front();
    if (weights.lengths.valid()) {
      const XlaOp here = along(weights.lengths > place, {rows_, hidden_}, 0);
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = xla::Select(here, next[i], before[i]);
      shown = xla::Select(here, shown, xla::ZerosLike(shown));
    }
    if (node_.wants(0)) next.push_back(with_step(node_, step.state.back(), shown, place));
    return next;
  }

  Node& node_;
  CellKind kind_;
  bool batch_first_ = false;
  bool first_is_reverse_ = false;
  XlaOp x_;  // [steps, rows, features]
  std::int64_t steps_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t hidden_ = 0;
  std::int64_t directions_ = 1;
};

void lower_rnn(Node& node) { RecurrentLayer(node, {1, 1, {"Tanh"}, rnn_next}).lower(); }
void lower_gru(Node& node) { RecurrentLayer(node, {3, 1, {"Sigmoid", "Tanh"}, gru_next}).lower(); }
void lower_lstm(Node& node) {
  RecurrentLayer(node, {4, 2, {"Sigmoid", "Tanh", "Tanh"}, lstm_next}).lower();
}

// Converts [batch, sequence, heads * size] to [batch, heads, sequence, size].
XlaOp split_heads(const Node& node, XlaOp x, std::int64_t heads) {
  const Dimensions sizes = node.sizes_of(x);
  if (heads < 1 || sizes[2] % heads != 0)
    node.refuse("cannot split {} elements into {} heads", sizes[2], heads);
  return xla::Transpose(xla::Reshape(x, {sizes[0], sizes[1], heads, sizes[2] / heads}),
                        {0, 2, 1, 3});
}

// An operand as [batch, heads, sequence, size].
XlaOp attention_operand(const Node& node, int operand, const char* heads) {
  const auto rank = node.rank(operand);
  if (rank == 4) return node.operand(operand);
  if (rank != 3) node.refuse("needs operands of three or four dimensions");
  return split_heads(node, node.operand(operand), node.integer(heads));
}

XlaOp with_past(const Node& node, XlaOp x, int past) {
  if (!node.has(past)) return x;
  return xla::ConcatInDim(&node.builder(), {node.operand(past), x}, 2);
}

// Multiplies [batch, heads, rows, depth] by matrices of [batch, shared heads, ...], which several
// consecutive heads may share.
XlaOp multiply_heads(const Node& node, XlaOp a, XlaOp b, bool b_is_transposed) {
  const Dimensions left = node.sizes_of(a);
  const Dimensions right = node.sizes_of(b);
  if (right[1] < 1 || left[1] % right[1] != 0)
    node.refuse("has {} heads that share {} heads of keys", left[1], right[1]);
  const std::int64_t sharing = left[1] / right[1];
  // Rows of heads that share a matrix count as rows of one.
  const XlaOp rows = xla::Reshape(a, {left[0], right[1], sharing * left[2], left[3]});
  const std::int64_t columns = right[b_is_transposed ? 2 : 3];
  const XlaOp made = xla::BatchDot(rows, false, b, b_is_transposed);
  return xla::Reshape(made, {left[0], left[1], left[2], columns});
}

XlaOp lowest(const Node& node, xla::PrimitiveType type) {
  return scalar(node, type, -std::numeric_limits<double>::infinity());
}

// 0 where the mask is true, and minus infinity elsewhere.
XlaOp bias_of_mask(const Node& node, XlaOp mask, xla::PrimitiveType type) {
  const Dimensions sizes = node.sizes_of(mask);
  return xla::Select(mask, xla::Broadcast(scalar(node, type, 0), sizes),
                     xla::Broadcast(lowest(node, type), sizes));
}

// The mask operand as a bias of scores of these sizes; columns that a short mask lacks are hidden.
XlaOp bias_of_operand(const Node& node, const Dimensions& sizes, xla::PrimitiveType type) {
  XlaOp mask = node.operand(3);
  const std::int64_t last = node.rank(3) - 1;
  if (last < 0) node.refuse("has a mask without dimensions");
  if (node.type(3) == xla::PRED) mask = bias_of_mask(node, mask, type);
  const std::int64_t missing = sizes[3] - entry(node.sizes(3), last);
  if (missing > 0 && entry(node.sizes(3), last) != 1) {
    mask = xla::PadInDim(mask, lowest(node, node.type_of(mask)), last, 0, missing);
  }
  return broadcast_to(node, cast(mask, type), sizes);
}

// Applies all masks to scores of [batch, heads, rows, columns].
XlaOp with_masks(const Node& node, XlaOp scores) {
  const Dimensions sizes = node.sizes_of(scores);
  const auto type = node.type_of(scores);
  const auto index = [&](std::int64_t dimension) {
    return index_along(node, xla::S64, sizes, dimension);
  };
  if (node.has(3)) scores = scores + bias_of_operand(node, sizes, type);
  if (node.flag("is_causal")) {
    const std::int64_t past = node.has(4) ? node.sizes(4)[2] : 0;
    scores = scores + bias_of_mask(node, index(3) <= index(2) + past, type);
  }
  if (node.has(6)) {
    const XlaOp lengths = along(cast(node.operand(6), xla::S64), sizes, 0);
    scores = scores + bias_of_mask(node, index(3) < lengths, type);
  }
  return scores;
}

// Scales queries, and keys too where their product could overflow.
std::pair<XlaOp, XlaOp> scaled_heads(const Node& node, XlaOp queries, XlaOp keys) {
  const auto size = static_cast<double>(node.sizes_of(queries)[3]);
  const double scale = node.has_attribute("scale") ? static_cast<double>(node.real("scale", 1))
                                                   : 1 / std::sqrt(size);
  if (scale < 0 || xla::primitive_util::BitWidth(node.type_of(queries)) > 16) {
    return {queries * scale, keys};
  }
  return {queries * std::sqrt(scale), keys * std::sqrt(scale)};
}

// Operands: queries, keys, values, mask, past keys, past values, lengths without padding. Results:
// the attended values, keys and values including the past ones, and the scores at the stage of
// qk_matmul_output_mode.
void lower_attention(Node& node) {
  const bool is_flat = node.rank(0) == 3;
  const auto type = node.type(0);
  const XlaOp queries = attention_operand(node, 0, "q_num_heads");
  const XlaOp keys = with_past(node, attention_operand(node, 1, "kv_num_heads"), 4);
  const XlaOp values = with_past(node, attention_operand(node, 2, "kv_num_heads"), 5);
  node.set(1, keys);
  node.set(2, values);

  const auto [scaled_queries, scaled_keys] = scaled_heads(node, queries, keys);
  XlaOp scores = multiply_heads(node, scaled_queries, scaled_keys, true);
  const std::int64_t shown = node.integer("qk_matmul_output_mode", 0);
  if (shown == 0) node.set(3, scores);
  if (const float cap = node.real("softcap", 0); cap > 0) {
    const XlaOp bound = like(scores, cap);
    scores = xla::Tanh(scores / bound) * bound;
  }
  if (shown == 1) node.set(3, scores);
  scores = with_masks(node, scores);
  if (shown == 2) node.set(3, scores);

  const auto precision = element_type(static_cast<int>(node.integer("softmax_precision", 0)));
  XlaOp weights = softmax(node, precision ? cast(scores, *precision) : scores, 3);
  if (shown == 3) node.set(3, cast(weights, type));
  // In the more exact of the two types.
  const auto bits = [](xla::PrimitiveType one) { return xla::primitive_util::BitWidth(one); };
  const auto exact = bits(node.type_of(weights)) > bits(type) ? node.type_of(weights) : type;
  XlaOp made = multiply_heads(node, cast(weights, exact), cast(values, exact), false);
  made = cast(made, type);
  if (is_flat) {
    const Dimensions sizes = node.sizes_of(made);
    made =
        xla::Reshape(xla::Transpose(made, {0, 2, 1, 3}), {sizes[0], sizes[2], sizes[1] * sizes[3]});
  }
  node.set(0, made);
}

// Cosines or sines by [batch, sequence, half of the size].
XlaOp rotation_cache(const Node& node, int operand) {
  if (!node.has(3)) return node.operand(operand);
  return gather(node, node.operand(operand), node.operand(3), {{0}, {2}, 2});
}

// Rotates pairs of elements by angles: adjacent ones (interleaved), or one of each half.
void lower_rotary_embedding(Node& node) {
  const Dimensions sizes = node.sizes(0);
  XlaOp x = node.operand(0);
  Dimensions cache_places = {0, 2, 3};
  if (sizes.size() == 3) {
    const std::int64_t heads = node.integer("num_heads", 0);
    if (heads < 1 || sizes[2] % heads != 0) node.refuse("needs num_heads for three dimensions");
    x = xla::Reshape(x, {sizes[0], sizes[1], heads, sizes[2] / heads});
    cache_places = {0, 1, 3};
  } else if (sizes.size() != 4) {
    node.refuse("needs three or four dimensions");
  }
  const Dimensions heads = node.sizes_of(x);
  const std::int64_t given = node.integer("rotary_embedding_dim", 0);
  const std::int64_t turned = given == 0 ? heads[3] : given;
  if (turned > heads[3] || turned % 2 != 0) node.refuse("rotates a wrong number of elements");
  const Dimensions half = with_size(heads, 3, turned / 2);
  const bool is_interleaved = node.flag("interleaved");
  const XlaOp rotated = xla::SliceInDim(x, 0, turned, 1, 3);
  const auto part = [&](std::int64_t which) {
    if (!is_interleaved) {
      return xla::SliceInDim(rotated, which * half[3], (which + 1) * half[3], 1, 3);
    }
    return part_at(node, xla::Reshape(rotated, with_new(half, 4, 2)), which, 4);
  };
  const auto cache = [&](int operand) {
    return xla::BroadcastInDim(rotation_cache(node, operand), half, cache_places);
  };
  const XlaOp cosine = cache(1);
  const XlaOp sine = cache(2);
  const XlaOp real = cosine * part(0) - sine * part(1);
  const XlaOp imaginary = sine * part(0) + cosine * part(1);
  xla::XlaBuilder* const builder = &node.builder();
  XlaOp made = is_interleaved ? stack(node, {real, imaginary}, 4)
                              : xla::ConcatInDim(builder, {real, imaginary}, 3);
  made = xla::Reshape(made, with_size(heads, 3, turned));
  const XlaOp kept = xla::SliceInDim(x, turned, heads[3], 1, 3);
  node.set(xla::Reshape(xla::ConcatInDim(builder, {made, kept}, 3), sizes));
}

// Linear attention, without a softmax: each step of the sequence updates and reads a state.
struct LinearAttention {
  std::int64_t batch = 0;
  std::int64_t steps = 0;
  std::int64_t query_heads = 0;
  std::int64_t heads = 0;    // of keys and values
  std::int64_t depth = 0;    // of queries and keys
  std::int64_t columns = 0;  // of values
  bool has_decay = false;
  bool has_correction = false;

  Dimensions state() const { return {batch, heads, depth, columns}; }
};

LinearAttention linear_attention(const Node& node) {
  for (const int operand : {0, 1, 2}) {
    if (node.rank(operand) != 3) node.refuse("needs operands of three dimensions");
  }
  LinearAttention sizes;
  sizes.query_heads = node.integer("q_num_heads");
  sizes.heads = node.integer("kv_num_heads");
  const Dimensions query = node.sizes(0);
  if (sizes.heads < 1 || sizes.query_heads < 1 || sizes.query_heads % sizes.heads != 0 ||
      query[2] % sizes.query_heads != 0 || node.sizes(2)[2] % sizes.heads != 0) {
    node.refuse("has numbers of heads that do not match its operands");
  }
  sizes.batch = query[0];
  sizes.steps = query[1];
  sizes.depth = query[2] / sizes.query_heads;
  sizes.columns = node.sizes(2)[2] / sizes.heads;
  if (node.sizes(1)[2] != sizes.heads * sizes.depth) node.refuse("has keys of another size");
  const std::string rule = node.word("update_rule", {"gated_delta", "linear", "gated", "delta"});
  sizes.has_decay = rule.starts_with("gated");
  sizes.has_correction = rule.ends_with("delta");
  return sizes;
}

// Converts [batch, steps, heads * size] to [steps, batch, heads, size] in float32.
XlaOp steps_first(const Node& node, int operand, std::int64_t heads) {
  const Dimensions sizes = node.sizes(operand);
  if (sizes.size() != 3 || sizes[2] % heads != 0) node.refuse("has an operand of a wrong size");
  const XlaOp cut =
      xla::Reshape(node.operand(operand), {sizes[0], sizes[1], heads, sizes[2] / heads});
  return cast(xla::Transpose(cut, {1, 0, 2, 3}), xla::F32);
}

// Computes one step. State: that of the attention, and the results. Fixed: the operands, by step.
std::vector<XlaOp> attend_step(const Node& node, const LinearAttention& sizes,
                               const LoopStep& step) {
  const auto of_step = [&](std::size_t which) {
    return at_step(node, step.fixed[which], 0, step.number);
  };
  XlaOp state = step.state[0];
  const XlaOp key = of_step(1);
  XlaOp value = of_step(2);
  const auto by_depth = [&](XlaOp x) { return spread(x, sizes.state(), {3}); };
  if (sizes.has_decay) state = state * by_depth(of_step(3));
  if (sizes.has_correction) {
    value = of_step(step.fixed.size() - 1) * (value - xla::Einsum(key, state, "bhd,bhdc->bhc"));
  }
  state = state + by_depth(key) * spread(value, sizes.state(), {2});
  const XlaOp rows = xla::Reshape(
      of_step(0), {sizes.batch, sizes.heads, sizes.query_heads / sizes.heads, sizes.depth});
  const XlaOp read =
      xla::Reshape(xla::BatchDot(rows, state), {sizes.batch, sizes.query_heads, sizes.columns});
  return {state, with_step(node, step.state[1], read, step.number)};
}

// Operands: queries, keys, values, the initial state, the logarithm of its decay, the rate of
// corrections.
void lower_linear_attention(Node& node) {
  const LinearAttention sizes = linear_attention(node);
  const std::vector<XlaOp> state = {
      node.has(3) ? cast(node.operand(3), xla::F32) : zeros_of(node, xla::F32, sizes.state()),
      zeros_of(node, xla::F32, {sizes.steps, sizes.batch, sizes.query_heads, sizes.columns})};
  std::vector<XlaOp> operands = {steps_first(node, 0, sizes.query_heads),
                                 steps_first(node, 1, sizes.heads),
                                 steps_first(node, 2, sizes.heads)};
  if (sizes.has_decay) {
    operands.push_back(broadcast_to(node, xla::Exp(steps_first(node, 4, sizes.heads)),
                                    {sizes.steps, sizes.batch, sizes.heads, sizes.depth}));
  }
  if (sizes.has_correction) {
    const std::int64_t heads = node.sizes(5).back() == 1 ? 1 : sizes.heads;
    operands.push_back(broadcast_to(node, steps_first(node, 5, heads),
                                    {sizes.steps, sizes.batch, sizes.heads, sizes.columns}));
  }
  const auto made = run_loop(node, {.count = sizes.steps}, state, operands,
                             [&](const LoopStep& step) { return attend_step(node, sizes, step); });
  const float given = node.real("scale", 0);
  const double scale =
      given == 0 ? 1 / std::sqrt(static_cast<double>(sizes.depth)) : static_cast<double>(given);
  const XlaOp read = made[1] * scale;
  const XlaOp joined = xla::Reshape(xla::Transpose(read, {1, 0, 2, 3}),
                                    {sizes.batch, sizes.steps, sizes.query_heads * sizes.columns});
  node.set(0, cast(joined, node.type(0)));
  node.set(1, cast(made[0], node.type(node.has(3) ? 3 : 0)));
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
  const bool is_short = length.count && *length.count <= kMostStepsInLine;
  if (is_short && !length.by_state && !length.is_while && !node.scope().state().follows_sizes) {
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
  return elements_of(last, std::ssize(state), 1);
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

std::vector<OnnxOperator> sequence_operators() {
  return {
      {"Attention", 23, lower_attention},
      {"GRU", 7, lower_gru},
      {"If", 1, lower_if, {.better_known = {0}}},
      {"LSTM", 7, lower_lstm},
      {"LinearAttention", 27, lower_linear_attention},
      {"Loop", 1, lower_loop, {.better_known = {0, 1}}},
      {"RNN", 7, lower_rnn},
      {"RotaryEmbedding", 23, lower_rotary_embedding},
      {"Scan", 8, lower_scan},
  };
}

}  // namespace tfaot::toolkit::engine
