// SPDX-License-Identifier: Apache-2.0
// Losses: how unlikely a net finds what is so.
#include <fmt/format.h>

#include <numeric>
#include <optional>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// [batch, classes, ...] reduced over the classes.
XlaOp reduce_classes(const Node& node, XlaOp x, XlaOp start,
                     xla::XlaComputation (*computation)(xla::PrimitiveType, xla::XlaBuilder*)) {
  return xla::Reduce(x, start, computation(node.type_of(x), &node.builder()), {1});
}

XlaOp sum_classes(const Node& node, XlaOp x) {
  return reduce_classes(node, x, xla::Zero(&node.builder(), node.type_of(x)),
                        xla::CreateScalarAddComputation);
}

XlaOp sum_everything(const Node& node, XlaOp x) {
  const auto type = node.type_of(x);
  return xla::ReduceAll(x, xla::Zero(&node.builder(), type),
                        xla::CreateScalarAddComputation(type, &node.builder()));
}

// All dimensions but that of the classes.
Dimensions target_places(std::size_t rank) {
  Dimensions places(rank - 1, 0);
  std::iota(places.begin() + 1, places.end(), 2);
  return places;
}

// `log_probabilities` of [batch, classes, ...], the class of each place as operand 1, weights of
// the classes as operand 2.
void set_likelihood_loss(Node& node, XlaOp log_probabilities) {
  const Dimensions sizes = node.sizes_of(log_probabilities);
  if (sizes.size() < 2 || std::ssize(sizes) != node.rank(1) + 1) {
    node.refuse("needs classes with one dimension less than its operand");
  }
  const auto type = node.type_of(log_probabilities);
  const XlaOp target = xla::ConvertElementType(node.operand(1), xla::S64);
  const XlaOp zeros = xla::Zeros(&node.builder(), shape_of(type, sizes));
  const XlaOp is_class = xla::Eq(xla::Iota(&node.builder(), shape_of(xla::S64, sizes), 1),
                                 xla::BroadcastInDim(target, sizes, target_places(sizes.size())));
  const auto of_class = [&](XlaOp values) {
    return sum_classes(node, xla::Select(is_class, values, zeros));
  };
  XlaOp loss = xla::Neg(of_class(log_probabilities));
  const Dimensions places = node.sizes_of(loss);
  std::optional<XlaOp> weights;
  if (node.has(2)) weights = of_class(xla::BroadcastInDim(node.operand(2), sizes, {1}));
  if (node.has_attribute("ignore_index")) {
    const XlaOp ignored =
        xla::ConstantR0<std::int64_t>(&node.builder(), node.integer("ignore_index"));
    const XlaOp none = xla::Zeros(&node.builder(), shape_of(type, places));
    const XlaOp own = weights ? *weights : xla::Broadcast(scalar(node, type, 1), places);
    weights = xla::Select(xla::Eq(target, ignored), none, own);
  }
  if (weights) loss = xla::Mul(loss, *weights);
  const std::string reduction = node.text("reduction", "mean");
  if (reduction == "none") return node.set(0, loss);
  const XlaOp sum = sum_everything(node, loss);
  if (reduction == "sum") return node.set(0, sum);
  if (reduction != "mean") node.refuse(fmt::format("has the reduction '{}'", reduction));
  const XlaOp count = scalar(node, type, static_cast<double>(product(places)));
  node.set(0, xla::Div(sum, weights ? sum_everything(node, *weights) : count));
}

void lower_likelihood_loss(Node& node) { set_likelihood_loss(node, node.operand(0)); }

void lower_cross_entropy_loss(Node& node) {
  const XlaOp x = node.operand(0);
  const Dimensions sizes = node.sizes_of(x);
  if (sizes.size() < 2) node.refuse("needs a dimension of classes");
  const auto spread = [&](XlaOp values) {
    return xla::BroadcastInDim(values, sizes, target_places(sizes.size()));
  };
  const XlaOp largest = reduce_classes(node, x, xla::MinValue(&node.builder(), node.type(0)),
                                       xla::CreateScalarMaxComputation);
  const XlaOp shifted = xla::Sub(x, spread(largest));
  const XlaOp sums = xla::Log(sum_classes(node, xla::Exp(shifted)));
  const XlaOp log_probabilities = xla::Sub(shifted, spread(sums));
  node.set(1, log_probabilities);
  set_likelihood_loss(node, log_probabilities);
}

}  // namespace

std::vector<OnnxOperator> loss_operators() {
  return {
      {"NegativeLogLikelihoodLoss", 12, lower_likelihood_loss},
      {"SoftmaxCrossEntropyLoss", 12, lower_cross_entropy_loss},
  };
}

}  // namespace tfaot::toolkit::engine
