// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/pair_probabilities.h"

#include <algorithm>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/loops.h"
#include "onnx/operators/places.h"
#include "onnx/operators/scores.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

constexpr double kLeastProbability = 1e-7;
constexpr std::int64_t kProbabilitySteps = 100;

XlaOp pair_sum(const Node& node, XlaOp x, std::int64_t axis) {
  const auto type = node.type_of(x);
  return xla::Reduce(x, xla::Zero(x.builder(), type),
                     xla::CreateScalarAddComputation(type, x.builder()), {axis});
}

// The probabilities p of a row are where p Q p is least. With r(i, j) for the probability of i
// among i and j, Q(i, j) is -r(i, j) r(j, i), and Q(i, i) the sum of all r(j, i) squared.
// [rows, classes, classes]
XlaOp quadratic_form(const Node& node, XlaOp first, std::int64_t classes) {
  const auto pairs = class_pairs(classes);
  const auto count = std::ssize(pairs);
  // Of [first, second] of all pairs, where r(j, i) and r(i, j) are. The diagonal is replaced.
  Dimensions there(static_cast<std::size_t>(classes * classes), 0);
  Dimensions back = there;
  for (std::int64_t pair = 0; pair < count; ++pair) {
    const auto [i, j] = pairs[static_cast<std::size_t>(pair)];
    size_at(there, i * classes + j) = pair + count;
    size_at(there, j * classes + i) = pair;
    size_at(back, i * classes + j) = pair;
    size_at(back, j * classes + i) = pair + count;
  }
  const XlaOp second = xla::Sub(scalar_like(node, first, 1), first);
  const XlaOp both = xla::ConcatInDim(&node.builder(), {first, second}, 1);
  const Dimensions sizes = {node.sizes_of(first).front(), classes, classes};
  const auto placed = [&](const Dimensions& places) {
    return xla::Reshape(take_places(node, both, 1, places), sizes);
  };
  const XlaOp is_diagonal =
      xla::Eq(index_along(node, xla::S32, sizes, 1), index_along(node, xla::S32, sizes, 2));
  const XlaOp others =
      xla::Select(is_diagonal, zeros_of(node, node.type_of(first), sizes), placed(there));
  const XlaOp sums = pair_sum(node, xla::Square(others), 2);
  return xla::Select(is_diagonal, xla::BroadcastInDim(sums, sizes, {0, 1}),
                     xla::Neg(xla::Mul(others, placed(back))));
}

// One step towards the least p Q p: changes one probability after the other and divides all by
// their new sum. Rows that are there stay.
std::vector<XlaOp> improved_probabilities(const Node& node, const LoopStep& step) {
  const XlaOp form = step.fixed.front();
  const XlaOp start = step.state[1];
  const Dimensions sizes = node.sizes_of(start);
  const std::int64_t classes = sizes.back();
  const auto across = [&](XlaOp of_rows) { return xla::BroadcastInDim(of_rows, sizes, {0}); };
  const auto column = [&](XlaOp x, std::int64_t place) {
    return xla::Reshape(score_column(x, place), {sizes.front()});
  };

  XlaOp p = start;
  XlaOp slopes =
      pair_sum(node, xla::Mul(form, xla::BroadcastInDim(p, node.sizes_of(form), {0, 2})), 2);
  XlaOp value = pair_sum(node, xla::Mul(p, slopes), 1);
  const auto type = node.type_of(p);
  const XlaOp error =
      xla::Reduce(xla::Abs(xla::Sub(slopes, across(value))), xla::Zero(&step.builder, type),
                  xla::CreateScalarMaxComputation(type, &step.builder), {1});
  // So are rows of NaN.
  const XlaOp is_there =
      xla::Not(xla::Ge(error, xla::ScalarLike(error, 0.005 / static_cast<double>(classes))));
  const XlaOp places = xla::Iota(&step.builder, shape_of(xla::S32, sizes), 1);
  for (std::int64_t i = 0; i < classes; ++i) {
    const XlaOp row = xla::Reshape(xla::SliceInDim(form, i, i + 1, 1, 1), sizes);
    const XlaOp own = column(row, i);
    const XlaOp slope = column(slopes, i);
    const XlaOp change = xla::Div(xla::Sub(value, slope), own);
    const XlaOp sum = xla::Add(change, xla::ScalarLike(change, 1));
    const XlaOp rise = xla::Mul(
        change, xla::Add(xla::Mul(change, own), xla::Mul(slope, xla::ScalarLike(slope, 2))));
    const XlaOp is_it = xla::Eq(places, xla::ScalarLike(places, i));
    p = xla::Div(xla::Select(is_it, xla::Add(p, across(change)), p), across(sum));
    value = xla::Div(xla::Add(value, rise), xla::Square(sum));
    slopes = xla::Div(xla::Add(slopes, xla::Mul(across(change), row)), across(sum));
  }
  const XlaOp all_there =
      xla::Reduce(is_there, xla::ConstantR0<bool>(&step.builder, true),
                  xla::CreateScalarAndComputation(xla::PRED, &step.builder), {0});
  const XlaOp stays = xla::BroadcastInDim(is_there, sizes, {0});
  return {xla::Not(all_there), xla::Select(stays, start, p)};
}

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> class_pairs(std::int64_t classes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = i + 1; j < classes; ++j) pairs.emplace_back(i, j);
  }
  return pairs;
}

XlaOp votes_of_pairs(const Node& node, XlaOp scores, std::int64_t classes) {
  const auto type = node.type_of(scores);
  const auto pairs = class_pairs(classes);
  const XlaOp is_first = xla::Gt(scores, xla::ZerosLike(scores));
  const XlaOp first = xla::ConvertElementType(is_first, type);
  const XlaOp second = xla::ConvertElementType(xla::Not(is_first), type);
  // A vote for the first of a pair, and one for the second.
  std::vector<double> for_first(pairs.size() * static_cast<std::size_t>(classes), 0);
  std::vector<double> for_second = for_first;
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const std::size_t row = pair * static_cast<std::size_t>(classes);
    for_first[row + static_cast<std::size_t>(pairs[pair].first)] = 1;
    for_second[row + static_cast<std::size_t>(pairs[pair].second)] = 1;
  }
  const Dimensions sizes = {std::ssize(pairs), classes};
  return xla::Add(xla::Dot(first, constant_reals(node, type, for_first, sizes)),
                  xla::Dot(second, constant_reals(node, type, for_second, sizes)));
}

XlaOp probabilities_of_pairs(const Node& node, XlaOp first, std::int64_t classes) {
  first = xla::Clamp(scalar_like(node, first, kLeastProbability), first,
                     scalar_like(node, first, 1 - kLeastProbability));
  const Dimensions sizes = {node.sizes_of(first).front(), classes};
  const XlaOp equal =
      xla::Broadcast(scalar(node, node.type_of(first), 1 / static_cast<double>(classes)), sizes);
  const LoopLength length = {.count = std::max(kProbabilitySteps, classes), .by_state = true};
  const std::vector<XlaOp> state = {xla::ConstantR0<bool>(&node.builder(), true), equal};
  return run_loop(node, length, state, {quadratic_form(node, first, classes)},
                  [&](const LoopStep& step) { return improved_probabilities(node, step); })
      .back();
}

}  // namespace tfaot::toolkit::engine
