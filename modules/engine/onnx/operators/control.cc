// SPDX-License-Identifier: Apache-2.0
// Operators that hold graphs: choices and loops. What is known while compiling is decided then.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "onnx/onnx_scope.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/loops.h"
#include "onnx/operators/places.h"
#include "onnx/refusal.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// A loop of known length is written out if it has at most this many nodes in all; more if it cannot
// be compiled otherwise, because shapes change from step to step.
constexpr std::int64_t kMostNodesInLine = 512, kMostNodesOfChangingShapes = 16384;

void set_all(Node& node, const std::vector<XlaOp>& made) {
  if (std::ssize(made) < node.result_count()) {
    node.refuse(
        fmt::format("has {} results, but its graph makes {}", node.result_count(), made.size()));
  }
  for (int i = 0; i < node.result_count(); ++i) node.set(i, made[static_cast<std::size_t>(i)]);
}

// A computation of what the branch reads.
struct Branch {
  xla::XlaComputation computation;
  XlaOp operand;
  std::vector<xla::Shape> shapes;
};
Branch compiled_branch(const Node& node, const std::string& name) {
  const InnerGraph graph(node, node.graph(name));
  std::vector<xla::Shape> read;
  for (const XlaOp op : graph.outer()) read.push_back(node.shape_of_op(op));
  const auto builder = computation_builder(node, name);
  const XlaOp whole = xla::Parameter(builder.get(), 0, xla::ShapeUtil::MakeTupleShape(read), "p0");
  std::vector<XlaOp> outer;
  for (std::int64_t i = 0; i < std::ssize(read); ++i)
    outer.push_back(xla::GetTupleElement(whole, i));
  const std::vector<XlaOp> made = graph.lower(*builder, {}, outer);
  Branch branch;
  for (const XlaOp op : made) branch.shapes.push_back(node.shape_of_op(op));
  branch.computation = built_computation(node, *builder, xla::Tuple(builder.get(), made));
  branch.operand = xla::Tuple(&node.builder(), graph.outer());
  return branch;
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
  std::vector<XlaOp> results;
  for (std::int64_t i = 0; i < std::ssize(yes.shapes); ++i) {
    results.push_back(xla::GetTupleElement(chosen, i));
  }
  set_all(node, results);
}

// The steps of each scan output, joined along a new dimension.
XlaOp joined_steps(const Node& node, const std::vector<XlaOp>& steps) {
  std::vector<XlaOp> rows;
  for (const XlaOp step : steps) {
    Dimensions sizes = node.sizes_of(step);
    sizes.insert(sizes.begin(), 1);
    rows.push_back(xla::Reshape(step, sizes));
  }
  return xla::ConcatInDim(&node.builder(), rows, 0);
}

XlaOp no_steps(const Node& node, const xla::Shape& step, std::int64_t count) {
  Dimensions sizes = {count};
  sizes.insert(sizes.end(), step.dimensions().begin(), step.dimensions().end());
  return zeros_of(node, step.element_type(), sizes);
}

// Of a Loop's graph. It is true in each step that is done.
constexpr int kConditionInput = 1;

// A Loop: at most `most` steps, as long as the condition holds.
class OnnxLoop {
 public:
  explicit OnnxLoop(Node& node) : node_(node), body_(node, node.graph("body")) {
    for (int i = 2; i < node.operand_count(); ++i) initial_.push_back(node.operand(i));
    if (body_.graph().output_size() < std::ssize(initial_) + 1) {
      node.refuse("has a graph that makes too few values");
    }
    nodes_ = std::max<std::int64_t>(1, nodes_of_step(body_.graph(), kMostNodesInLine));
    if (!node.has(0)) {
      most_ = std::numeric_limits<std::int64_t>::max();
    } else if (const auto counts = node.integers_if_known(0)) {
      if (counts->size() != 1) node.refuse("needs one trip count");
      most_ = std::max<std::int64_t>(0, counts->front());
    }
    if (node.has(1)) {
      start_ = known_condition(node, node.operand(1));
    } else {
      start_ = true;
    }
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
      const auto place = static_cast<std::size_t>(i);
      const xla::Shape before = node_.shape_of_op(initial_[place]);
      if (!xla::ShapeUtil::Compatible(outcome.shapes[place + 1], before)) {
        node_.refuse(
            fmt::format("has a value '{}' that changes its shape from step to step, and the "
                        "number of steps is not known or too large",
                        body_.graph().input(static_cast<int>(i) + 2).name()));
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
    if (scans > 0 && !(always && count_known)) {
      node_.refuse("collects values of steps whose number depends on the model's inputs");
    }
    if (always && most_ && !count_known) node_.refuse("never ends");
    std::vector<XlaOp> state = {node_.has(1) ? xla::Reshape(node_.operand(1), {})
                                             : xla::ConstantR0<bool>(&node_.builder(), true)};
    std::vector<XlaOp> fixed = body_.outer();
    if (!most_) {
      const XlaOp count = xla::ConvertElementType(xla::Reshape(node_.operand(0), {}), xla::S64);
      state.front() = xla::And(state.front(), xla::Gt(count, xla::ZerosLike(count)));
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
      const XlaOp number = xla::Add(step.number, xla::ScalarLike(step.number, 1));
      next.front() = xla::And(next.front(), xla::Lt(number, step.fixed.back()));
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
  std::optional<bool> start_;         // whether there is a first step
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
    const std::int64_t count = size_at(node_.sizes_of(sequences.front()), inputs_.front().axis);
    std::vector<xla::Shape> shapes;
    for (const XlaOp one : state) shapes.push_back(node_.shape_of_op(one));
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      Dimensions sizes = node_.sizes_of(sequences[i]);
      if (size_at(sizes, inputs_[i].axis) != count)
        node_.refuse("scans sequences of different lengths");
      sizes.erase(sizes.begin() + inputs_[i].axis);
      shapes.push_back(shape_of(node_.type_of(sequences[i]), sizes));
    }
    const auto outcome = body_.outcome(shapes);
    for (std::size_t i = state.size(); i < outcome.shapes.size(); ++i) {
      state.push_back(no_steps(node_, outcome.shapes[i], count));
    }
    std::vector<XlaOp> fixed = sequences;
    fixed.insert(fixed.end(), body_.outer().begin(), body_.outer().end());
    state = run_loop(node_, {.count = count}, state, fixed,
                     [&](const LoopStep& step) { return next_state(step, count); });
    const auto axes = node_.integers("scan_output_axes").value_or(Dimensions());
    for (std::size_t i = 0; i < outputs_.size() && i < axes.size(); ++i) {
      XlaOp& output = state[static_cast<std::size_t>(states_) + i];
      const auto rank = std::ssize(node_.sizes_of(output));
      Dimensions order = dimension_range(1, rank);
      order.insert(order.begin() + node_.axis(axes[i], rank), 0);
      output = xla::Transpose(output, order);
    }
    return state;
  }

 private:
  void read_directions(const std::string& name, std::vector<ScannedSequence>& sequences) const {
    const auto given = node_.integers(name).value_or(Dimensions());
    for (std::size_t i = 0; i < sequences.size() && i < given.size(); ++i) {
      sequences[i].backward = given[i] != 0;
    }
  }

  void read_axes(const std::string& name, std::vector<ScannedSequence>& sequences,
                 const std::vector<XlaOp>& values) const {
    if (values.size() != sequences.size()) node_.refuse("has too few operands");
    const auto given = node_.integers(name).value_or(Dimensions());
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const auto rank = std::ssize(node_.sizes_of(values[i]));
      sequences[i].axis = node_.axis(i < given.size() ? given[i] : 0, rank);
    }
  }

  std::vector<XlaOp> next_state(const LoopStep& step, std::int64_t count) const {
    const XlaOp back = xla::Sub(xla::ScalarLike(step.number, count - 1), step.number);
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
    const XlaOp place = xla::ConstantR0<std::int64_t>(&node.builder(), row);
    for (const XlaOp operand : operands) of_row.push_back(at_step(node, operand, 0, place));
    const auto made = OnnxScan(node).scan(of_row);
    results.resize(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) results[i].push_back(made[i]);
  }
  std::vector<XlaOp> joined;
  for (const auto& rows : results) joined.push_back(joined_steps(node, rows));
  set_all(node, joined);
}

void lower_scan(Node& node) {
  if (node.opset() < 9) return lower_batched_scan(node);
  set_all(node, OnnxScan(node).scan(node.operands()));
}

}  // namespace

std::vector<OnnxOperator> control_operators() {
  return {
      {"If", 1, lower_if, {}, {}, {}, {0}},
      {"Loop", 1, lower_loop, {}, {}, {}, {0, 1}},
      {"Scan", 8, lower_scan},
  };
}

}  // namespace tfaot::toolkit::engine
