// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: the boxes of the best scores that do not overlap. How many there are depends
// on the data, so it compiles only if the model declares the number of rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "onnx/onnx_scope.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/loops.h"
#include "onnx/refusal.h"
#include "tfaot/records/model_check.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/comparators.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// Of the result, as the model declares it.
std::int64_t declared_rows(const Node& node) {
  const onnx::GraphProto& graph = node.scope().model().proto.graph();
  const auto rows_in = [&](const auto& values) -> std::int64_t {
    for (const onnx::ValueInfoProto& value : values) {
      const auto& shape = value.type().tensor_type().shape();
      if (value.name() != node.proto().output(0) || shape.dim_size() == 0) continue;
      return shape.dim(0).dim_value();
    }
    return 0;
  };
  const std::int64_t rows = std::max(rows_in(graph.output()), rows_in(graph.value_info()));
  if (rows > 0) return rows;
  throw Refusal(
      Error(fmt::format("{} finds as many boxes as the data has",
                        describe_node(node.proto(), node.opset())))
          .note(fmt::format("declare its number of rows: write the shape [rows, 3] for '{}' into "
                            "the graph's value_info; rows without a box are then -1",
                            node.proto().output(0)))
          .about(word_of(ProblemKind::kDataDependentSize), {node.proto().name()}));
}

// The sides of boxes, from the lower to the upper one.
struct Sides {
  std::array<XlaOp, 2> low;
  std::array<XlaOp, 2> high;
  XlaOp area() const { return xla::Mul(xla::Sub(high[0], low[0]), xla::Sub(high[1], low[1])); }
};

// Boxes [batch, boxes, 4], for each class: [batch, classes, boxes].
Sides sides_of(const Node& node, const Dimensions& sizes) {
  const auto column = [&](std::int64_t i) {
    const XlaOp one = xla::SliceInDim(node.operand(0), i, i + 1, 1, 2);
    return xla::BroadcastInDim(xla::Reshape(one, {sizes[0], sizes[2]}), sizes, {0, 2});
  };
  Sides sides;
  for (std::size_t d = 0; d < 2; ++d) {
    const auto place = static_cast<std::int64_t>(d);
    const XlaOp a = column(place);
    const XlaOp b = column(place + 2);
    if (node.integer("center_point_box", 0) != 0) {
      const XlaOp half = xla::Mul(b, xla::ScalarLike(b, 0.5));
      sides.low[d] = xla::Sub(a, half);
      sides.high[d] = xla::Add(a, half);
    } else {
      sides.low[d] = xla::Min(a, b);
      sides.high[d] = xla::Max(a, b);
    }
  }
  return sides;
}

// True where a box overlaps the chosen one of its class by more than the threshold.
XlaOp overlapping(const Sides& all, const Sides& chosen, XlaOp threshold) {
  const XlaOp zero = xla::ZerosLike(all.low[0]);
  const auto shared = [&](std::size_t d) {
    return xla::Max(
        zero, xla::Sub(xla::Min(all.high[d], chosen.high[d]), xla::Max(all.low[d], chosen.low[d])));
  };
  const XlaOp both = xla::Mul(shared(0), shared(1));
  const XlaOp either = xla::Sub(xla::Add(all.area(), chosen.area()), both);
  const XlaOp have_areas = xla::And(xla::Gt(all.area(), zero), xla::Gt(chosen.area(), zero));
  return xla::And(have_areas, xla::Gt(xla::Div(both, either), threshold));
}

// The first `rows` of the places [steps, batch, classes] that were chosen, by batch and class.
XlaOp chosen_rows(const Node& node, XlaOp places, XlaOp chosen, std::int64_t rows) {
  xla::XlaBuilder& builder = node.builder();
  const XlaOp boxes = xla::Transpose(places, {1, 2, 0});
  const Dimensions sizes = node.sizes_of(boxes);
  const std::int64_t all = product(sizes);
  const auto flat = [&](XlaOp op) { return xla::Reshape(op, {all}); };
  const auto index = [&](std::int64_t d) {
    return flat(xla::Iota(&builder, shape_of(xla::S64, sizes), d));
  };
  const XlaOp last =
      flat(xla::ConvertElementType(xla::Not(xla::Transpose(chosen, {1, 2, 0})), xla::S64));
  const XlaOp sorted = xla::Sort(
      {last, index(0), index(1), flat(boxes)},
      xla::CreateScalarLtComputation({xla::S64, xla::S64, xla::S64, xla::S64}, &builder), 0, true);
  const XlaOp none = xla::ConstantR0<std::int64_t>(&builder, -1);
  const XlaOp is_box = xla::Eq(xla::GetTupleElement(sorted, 0), xla::ScalarLike(none, 0));
  std::vector<XlaOp> columns;
  for (std::int64_t i = 1; i < 4; ++i) {
    const XlaOp column = xla::GetTupleElement(sorted, i);
    const XlaOp real = xla::Select(is_box, column, xla::Broadcast(none, {all}));
    const XlaOp cut = xla::SliceInDim(real, 0, std::min(all, rows), 1, 0);
    const XlaOp whole = xla::PadInDim(cut, none, 0, 0, rows - std::min(all, rows));
    columns.push_back(xla::Reshape(whole, {rows, 1}));
  }
  return xla::ConcatInDim(&builder, columns, 1);
}

// boxes, scores [batch, classes, boxes], most boxes of a class, the overlap and the score that are
// allowed. Equal scores: the first box.
void lower_non_max_suppression(Node& node) {
  xla::XlaBuilder& builder = node.builder();
  const std::int64_t rows = declared_rows(node);
  const XlaOp scores = node.operand(1);
  const Dimensions sizes = node.sizes(1);
  if (sizes.size() != 3 || node.sizes(0) != Dimensions{sizes[0], sizes[2], 4}) {
    node.refuse("needs boxes of [batch, boxes, 4] and scores of [batch, classes, boxes]");
  }
  const std::int64_t most = node.has(2) ? node.known_integers(2).at(0) : 0;
  const std::int64_t steps = std::clamp<std::int64_t>(most, 0, sizes[2]);
  if (steps == 0) {
    return node.set(xla::Broadcast(xla::ConstantR0<std::int64_t>(&builder, -1), {rows, 3}));
  }
  const auto number = [&](int operand) {
    return xla::Reshape(xla::ConvertElementType(node.operand(operand), node.type(1)), {});
  };
  const XlaOp overlap = node.has(3) ? number(3) : xla::Zero(&builder, node.type(1));
  const XlaOp open = node.has(4) ? xla::Gt(scores, number(4))
                                 : xla::Broadcast(xla::ConstantR0<bool>(&builder, true), sizes);
  const Dimensions found = {steps, sizes[0], sizes[1]};
  const Sides sides = sides_of(node, sizes);
  const std::vector<XlaOp> fixed = {scores,        sides.low[0],  sides.low[1],
                                    sides.high[0], sides.high[1], overlap};
  const auto step = [&](const LoopStep& now) -> std::vector<XlaOp> {
    const XlaOp left = now.state[0];
    const Sides all{{now.fixed[1], now.fixed[2]}, {now.fixed[3], now.fixed[4]}};
    const XlaOp least = xla::MinValue(&now.builder, node.type(1));
    const XlaOp best =
        xla::ArgMax(xla::Select(left, now.fixed[0], xla::Broadcast(least, sizes)), xla::S64, 2);
    const XlaOp is_best =
        xla::And(left, xla::Eq(xla::Iota(&now.builder, shape_of(xla::S64, sizes), 2),
                               xla::BroadcastInDim(best, sizes, {0, 1})));
    const auto of_best = [&](XlaOp side) {
      const XlaOp one = xla::Reduce(
          xla::Select(is_best, side, xla::ZerosLike(side)), xla::Zero(&now.builder, node.type(1)),
          xla::CreateScalarAddComputation(node.type(1), &now.builder), {2});
      return xla::BroadcastInDim(one, sizes, {0, 1});
    };
    const Sides chosen{{of_best(all.low[0]), of_best(all.low[1])},
                       {of_best(all.high[0]), of_best(all.high[1])}};
    const XlaOp any = xla::Reduce(is_best, xla::ConstantR0<bool>(&now.builder, false),
                                  xla::CreateScalarOrComputation(xla::PRED, &now.builder), {2});
    const XlaOp closed = xla::Or(is_best, overlapping(all, chosen, now.fixed[5]));
    return {xla::And(left, xla::Not(closed)), with_step(node, now.state[1], best, now.number),
            with_step(node, now.state[2], any, now.number)};
  };
  const auto last = run_loop(node, {.count = steps},
                             {open, xla::Zeros(&builder, shape_of(xla::S64, found)),
                              xla::Zeros(&builder, shape_of(xla::PRED, found))},
                             fixed, step);
  node.set(chosen_rows(node, last[1], last[2], rows));
}

}  // namespace

std::vector<OnnxOperator> box_operators() {
  return {{"NonMaxSuppression", 10, lower_non_max_suppression, {2}, "", {3, 4}}};
}

}  // namespace tfaot::toolkit::engine
