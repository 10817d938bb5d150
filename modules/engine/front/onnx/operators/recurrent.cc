// SPDX-License-Identifier: Apache-2.0
// Recurrent operators: RNN, GRU, LSTM. A step is the product of its input with W, that of the state
// with R, and what the gates do, as other frameworks write it: kernels/recurrent_calls.cc.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "front/onnx/operators/loops.h"
#include "tfaot/base/text.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

// The parameters that an activation takes, with their defaults, and what it computes.
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
    {"elu", 1.0F, kNone,
     [](XlaOp x, float alpha, float) { return xla::Select(x >= 0, x, alpha * xla::Expm1(x)); }},
    {"hardsigmoid", 0.2F, 0.5F,
     [](XlaOp x, float alpha, float beta) {
       return xla::Min(xla::Max(alpha * x + beta, like(x, 0)), like(x, 1));
     }},
    {"leakyrelu", 0.01F, kNone,
     [](XlaOp x, float alpha, float) { return xla::Select(x >= 0, x, alpha * x); }},
    {"relu", kNone, kNone, [](XlaOp x, float, float) { return xla::Max(x, like(x, 0)); }},
    {"scaledtanh", 1.0F, 1.0F,
     [](XlaOp x, float alpha, float beta) { return alpha * xla::Tanh(beta * x); }},
    {"sigmoid", kNone, kNone, [](XlaOp x, float, float) { return xla::Logistic(x); }},
    {"softplus", kNone, kNone,
     [](XlaOp x, float, float) {
       return xla::Max(x, like(x, 0)) + xla::Log1p(xla::Exp(-xla::Abs(x)));
     }},
    {"softsign", kNone, kNone, [](XlaOp x, float, float) { return x / (1 + xla::Abs(x)); }},
    {"tanh", kNone, kNone, [](XlaOp x, float, float) { return xla::Tanh(x); }},
    {"thresholdedrelu", 1.0F, kNone,
     [](XlaOp x, float alpha, float) { return xla::Select(x >= alpha, x, like(x, 0)); }},
});

// Activations by direction; `usual`: those of one direction, if the node names none.
// The node's parameters are taken in order, by those activations that have some.
std::vector<GateActivation> gate_activations(const Node& node,
                                             const std::vector<std::string>& usual,
                                             std::int64_t directions) {
  std::vector<std::string> names = node.texts("activations");
  const std::size_t wanted = usual.size() * static_cast<std::size_t>(directions);
  // RNN's default has two, whatever the direction.
  if (names.size() > wanted && directions == 1 && usual.size() == 1) names.resize(1);
  while (node.texts("activations").empty() && names.size() < wanted) {
    names.insert(names.end(), usual.begin(), usual.end());
  }
  if (names.size() != wanted) {
    node.refuse(fmt::format("has {} activations instead of {}", names.size(), wanted));
  }
  const auto alphas = node.reals("activation_alpha");
  const auto betas = node.reals("activation_beta");
  auto alpha = alphas.begin();
  auto beta = betas.begin();
  std::vector<GateActivation> activations;
  for (const std::string& name : names) {
    const auto* const kind =
        std::ranges::find(kGateActivations, lower_case(name), &GateActivationKind::name);
    if (kind == kGateActivations.end()) node.refuse(fmt::format("has the activation '{}'", name));
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

// A vector for all rows.
XlaOp for_rows(const Node& node, XlaOp vector, XlaOp like) {
  const Dimensions sizes = node.sizes_of(like);
  return along(vector, sizes, std::ssize(sizes) - 1);
}

// Computes the next state from `x`, the step's input times W with its bias; the state; the weights
// that fixed_of() chose.
using CellState = std::vector<XlaOp>;
struct CellKind {
  std::int64_t gates = 1;
  std::int64_t states = 1;
  std::vector<std::string> activations;
  // Chooses from the node's operands for one direction.
  std::vector<XlaOp> (*fixed_of)(const Cell& cell, XlaOp recurrence, std::optional<XlaOp> bias,
                                 std::optional<XlaOp> peepholes) = nullptr;
  // The part of the recurrence's bias that is added to the input's.
  XlaOp (*early_bias)(const Cell& cell, XlaOp bias) = nullptr;
  CellState (*next)(const Cell& cell, XlaOp x, const CellState& state,
                    const std::vector<XlaOp>& fixed) = nullptr;
};

XlaOp whole_bias(const Cell& /*cell*/, XlaOp bias) { return bias; }

std::vector<XlaOp> rnn_fixed(const Cell& /*cell*/, XlaOp recurrence, std::optional<XlaOp> /*bias*/,
                             std::optional<XlaOp> /*peepholes*/) {
  return {recurrence};
}

CellState rnn_next(const Cell& cell, XlaOp x, const CellState& state,
                   const std::vector<XlaOp>& fixed) {
  return {cell.gate(0, x + times_transposed(state[0], fixed[0]))};
}

bool resets_after_product(const Cell& cell) { return cell.node.flag("linear_before_reset"); }

// Gates z, r, h. The hidden gate's own bias is reset too if the product is.
XlaOp gru_early_bias(const Cell& cell, XlaOp bias) {
  if (!resets_after_product(cell)) return bias;
  const XlaOp none = xla::ZerosLike(cell.columns(bias, 2));
  return xla::ConcatInDim(bias.builder(), {cell.columns(bias, 0, 2), none}, 0);
}

std::vector<XlaOp> gru_fixed(const Cell& cell, XlaOp recurrence, std::optional<XlaOp> bias,
                             std::optional<XlaOp> /*peepholes*/) {
  if (resets_after_product(cell)) {
    if (!bias) return {recurrence};
    return {recurrence, cell.columns(*bias, 2)};
  }
  const std::int64_t split = 2 * cell.hidden;
  return {xla::SliceInDim(recurrence, 0, split, 1, 0),
          xla::SliceInDim(recurrence, split, 3 * cell.hidden, 1, 0)};
}

CellState gru_next(const Cell& cell, XlaOp x, const CellState& state,
                   const std::vector<XlaOp>& fixed) {
  const XlaOp h = state[0];
  const XlaOp product = times_transposed(h, fixed[0]);
  const auto gate = [&](std::int64_t which) {
    return cell.gate(0, cell.columns(x, which) + cell.columns(product, which));
  };
  const XlaOp update = gate(0);
  const XlaOp reset = gate(1);
  XlaOp hidden;
  if (resets_after_product(cell)) {
    hidden = cell.columns(product, 2);
    if (fixed.size() > 1) hidden = hidden + for_rows(cell.node, fixed[1], hidden);
    hidden = reset * hidden;
  } else {
    hidden = times_transposed(reset * h, fixed[1]);
  }
  hidden = cell.gate(1, cell.columns(x, 2) + hidden);
  const XlaOp rest = like(update, 1) - update;
  return {rest * hidden + update * h};
}

std::vector<XlaOp> lstm_fixed(const Cell& /*cell*/, XlaOp recurrence, std::optional<XlaOp> /*bias*/,
                              std::optional<XlaOp> peepholes) {
  if (!peepholes) return {recurrence};
  return {recurrence, *peepholes};
}

// Gates i, o, f, c; peepholes i, o, f. The state is h, then c.
CellState lstm_next(const Cell& cell, XlaOp x, const CellState& state,
                    const std::vector<XlaOp>& fixed) {
  const XlaOp before = state[1];
  const XlaOp sum = x + times_transposed(state[0], fixed[0]);
  const auto gate = [&](std::int64_t which, XlaOp seen) {
    XlaOp in = cell.columns(sum, which);
    if (fixed.size() > 1) {
      const XlaOp peephole = for_rows(cell.node, cell.columns(fixed[1], which), in);
      in = in + peephole * seen;
    }
    return cell.gate(0, in);
  };
  const XlaOp input = gate(0, before);
  const bool coupled = cell.node.flag("input_forget");
  const XlaOp forget = coupled ? like(input, 1) - input : gate(2, before);
  const XlaOp candidate = cell.gate(1, cell.columns(sum, 3));
  const XlaOp memory = forget * before + input * candidate;
  // The memory itself is not clipped.
  return {gate(1, memory) * cell.activations[2].of(memory), memory};
}

// The node's operands, with the layout of layout=0.
class RecurrentLayer {
 public:
  RecurrentLayer(Node& node, const CellKind& kind) : node_(node), kind_(kind) {
    batch_first_ = node.flag("layout");
    const std::string direction = node.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      node.refuse(fmt::format("has the direction '{}'", direction));
    }
    first_is_reverse_ = direction == "reverse";
    x_ = batch_first_ ? xla::Transpose(node.operand(0), {1, 0, 2}) : node.operand(0);
    const Dimensions sizes = node.sizes_of(x_);
    const Dimensions recurrence = node.sizes(2);
    directions_ = direction == "bidirectional" ? 2 : 1;
    if (sizes.size() != 3 || recurrence.size() != 3) node.refuse("needs three dimensions");
    steps_ = sizes[0];
    rows_ = sizes[1];
    hidden_ = recurrence[2];
    const std::int64_t width = kind.gates * hidden_;
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
      const XlaOp all = joined(sequences, 1);
      node_.set(0, batch_first_ ? xla::Transpose(all, {2, 0, 1, 3}) : all);
    }
    for (std::size_t i = 0; i < last.size(); ++i) {
      const XlaOp all = joined(last[i], 0);
      node_.set(static_cast<int>(i) + 1, batch_first_ ? xla::Transpose(all, {1, 0, 2}) : all);
    }
  }

 private:
  bool is_reverse(std::int64_t which) const { return first_is_reverse_ || which == 1; }

  XlaOp of_direction(XlaOp x, std::int64_t which) const { return part_at(node_, x, which, 0); }

  // The bias of the input for one direction, or that of the recurrence.
  std::optional<XlaOp> bias_of(std::int64_t which, bool of_recurrence) const {
    if (!node_.has(3)) return std::nullopt;
    const std::int64_t width = kind_.gates * hidden_;
    const std::int64_t start = of_recurrence ? width : 0;
    return xla::SliceInDim(of_direction(node_.operand(3), which), start, start + width, 1, 0);
  }

  std::optional<XlaOp> input_bias(const Cell& cell, std::int64_t which) const {
    const auto own = bias_of(which, false);
    if (!own) return std::nullopt;
    return *own + kind_.early_bias(cell, *bias_of(which, true));
  }

  XlaOp initial_state(std::int64_t which, int operand) const {
    if (!node_.has(operand)) return zeros_of(node_, node_.type(0), {rows_, hidden_});
    XlaOp all = node_.operand(operand);
    if (batch_first_) all = xla::Transpose(all, {1, 0, 2});
    return of_direction(all, which);
  }

  // Values that are the same for all steps.
  struct Fixed {
    std::vector<XlaOp> weights;  // that fixed_of() chose
    XlaOp x, input;              // all steps' input, and W
    std::optional<XlaOp> bias, lengths;

    std::vector<XlaOp> all() const {
      std::vector<XlaOp> values = weights;
      values.insert(values.end(), {x, input});
      for (const auto& one : {bias, lengths}) {
        if (one) values.push_back(*one);
      }
      return values;
    }
    // The same as the loop's body sees it.
    Fixed inside(const std::vector<XlaOp>& values) const {
      const auto first = values.begin() + std::ssize(weights);
      Fixed seen{{values.begin(), first}, first[0], first[1], bias, lengths};
      auto next = first + 2;
      if (bias) seen.bias = *next++;
      if (lengths) seen.lengths = *next;
      return seen;
    }
  };

  // The last states, then all h of the steps if they are wanted.
  std::vector<XlaOp> run_direction(const Cell& cell, std::int64_t which) const {
    std::vector<XlaOp> state;
    for (int i = 0; i < kind_.states; ++i) state.push_back(initial_state(which, 5 + i));
    if (node_.wants(0)) {
      state.push_back(zeros_of(node_, node_.type(0), {steps_, rows_, hidden_}));
    }
    std::optional<XlaOp> peepholes;
    if (node_.has(7)) peepholes = of_direction(node_.operand(7), which);
    Fixed fixed{kind_.fixed_of(cell, of_direction(node_.operand(2), which), bias_of(which, true),
                               peepholes),
                x_, of_direction(node_.operand(1), which), input_bias(cell, which), std::nullopt};
    if (node_.has(4)) fixed.lengths = cast(node_.operand(4), xla::S64);
    return run_loop(node_, {.count = steps_}, state, fixed.all(), [&](const LoopStep& step) {
      return next_state(cell, is_reverse(which), step, fixed.inside(step.fixed));
    });
  }

  // Rows whose sequence is over, or has not begun from its end, stay as they are.
  std::vector<XlaOp> next_state(const Cell& cell, bool reverse, const LoopStep& step,
                                const Fixed& fixed) const {
    const XlaOp place = reverse ? like(step.number, steps_ - 1) - step.number : step.number;
    const CellState before(step.state.begin(), step.state.begin() + kind_.states);
    XlaOp x = times_transposed(at_step(node_, fixed.x, 0, place), fixed.input);
    if (fixed.bias) x = x + for_rows(node_, *fixed.bias, x);
    CellState next = kind_.next(cell, x, before, fixed.weights);
    XlaOp shown = next.front();
    if (fixed.lengths) {
      const XlaOp here = along(*fixed.lengths > place, {rows_, hidden_}, 0);
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = xla::Select(here, next[i], before[i]);
      shown = xla::Select(here, shown, xla::ZerosLike(shown));
    }
    if (node_.wants(0)) next.push_back(with_step(node_, step.state.back(), shown, place));
    return next;
  }

  // With a new dimension for the directions.
  XlaOp joined(std::vector<XlaOp> parts, std::int64_t axis) const {
    for (XlaOp& part : parts) {
      part = xla::Reshape(part, with_new(node_.sizes_of(part), axis, 1));
    }
    return parts.size() == 1 ? parts.front() : xla::ConcatInDim(&node_.builder(), parts, axis);
  }

  Node& node_;
  const CellKind& kind_;
  bool batch_first_ = false;
  bool first_is_reverse_ = false;
  XlaOp x_;  // [steps, rows, features]
  std::int64_t steps_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t hidden_ = 0;
  std::int64_t directions_ = 1;
};

void lower_rnn(Node& node) {
  const CellKind kind{1, 1, {"Tanh"}, rnn_fixed, whole_bias, rnn_next};
  RecurrentLayer(node, kind).lower();
}

void lower_gru(Node& node) {
  const CellKind kind{3, 1, {"Sigmoid", "Tanh"}, gru_fixed, gru_early_bias, gru_next};
  RecurrentLayer(node, kind).lower();
}

void lower_lstm(Node& node) {
  const CellKind kind{4, 2, {"Sigmoid", "Tanh", "Tanh"}, lstm_fixed, whole_bias, lstm_next};
  RecurrentLayer(node, kind).lower();
}

}  // namespace

std::vector<OnnxOperator> recurrent_operators() {
  return {
      {"GRU", 7, lower_gru},
      {"LSTM", 7, lower_lstm},
      {"RNN", 7, lower_rnn},
  };
}

}  // namespace tfaot::toolkit::engine
