// SPDX-License-Identifier: Apache-2.0
// The decision trees of ai.onnx.ml.
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "onnx/forest/forest.h"
#include "onnx/forest/forest_walk.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/scores.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

XlaOp feature_values(const Node& node) {
  return as_real(node, feature_rows(node, node.operand(0)));
}

// The scores with a number added to each target.
XlaOp with_base_values(const Node& node, XlaOp scores, const std::vector<double>& base) {
  if (base.empty()) return scores;
  const Dimensions sizes = node.sizes_of(scores);
  if (std::ssize(base) != sizes.back()) {
    node.refuse(fmt::format("has {} base_values for {} scores", base.size(), sizes.back()));
  }
  const XlaOp row = constant_reals(node, node.type_of(scores), base, {sizes.back()});
  return xla::Add(scores, xla::BroadcastInDim(row, sizes, {1}));
}

void lower_tree_ensemble(Node& node) {
  const XlaOp x = feature_values(node);
  const auto transform = numbered_post_transform(node, node.integer("post_transform", 0));
  const Forest forest = read_tree_ensemble(node, node.sizes_of(x).back());
  const XlaOp scores = apply_post_transform(node, walk_forest(node, x, forest), transform);
  node.set(xla::ConvertElementType(scores, node.type(0)));
}

void lower_tree_regressor(Node& node) {
  const XlaOp x = feature_values(node);
  const Forest forest = read_forest(node, {.prefix = "target", .targets = forest_targets(node)},
                                    node.sizes_of(x).back());
  const auto base = forest_numbers(node, "base_values").values;
  const XlaOp sums = with_base_values(node, walk_forest(node, x, forest), base);
  const XlaOp scores = apply_post_transform(node, sums, post_transform_of(node));
  node.set(xla::ConvertElementType(scores, xla::F32));
}

// The classes that leaves vote for, and whether no vote is negative.
struct ClassVotes {
  std::set<std::int64_t> classes;
  bool are_positive = true;
};
ClassVotes class_votes(const Forest& forest) {
  ClassVotes votes;
  for (const ForestNode& one : forest.nodes) {
    for (const LeafVote& vote : one.votes) {
      votes.classes.insert(vote.target);
      votes.are_positive = votes.are_positive && vote.weight >= 0;
    }
  }
  return votes;
}

// Two classes, and all votes are for one of them: the score of the other follows. The standard does
// not say how. Votes for the first class mean the second, as converters write them. Without a
// transform this does as ONNX Runtime does: scores that cannot be negative are probabilities,
// others have a sign. With one, the transform is applied to both signs, as in the reference
// implementation.
void set_binary_classes(Node& node, XlaOp scores, const ClassVotes& votes,
                        const ClassLabels& labels, PostTransform transform) {
  const bool is_first = votes.classes.count(0) > 0;
  const XlaOp positive = score_column(scores, is_first ? 0 : 1);
  const bool is_probability = votes.are_positive && transform != PostTransform::kLogistic;
  const XlaOp limit = scalar_like(node, positive, is_probability ? 0.5 : 0);
  const XlaOp is_second = xla::Reshape(xla::Gt(positive, limit), {node.sizes_of(scores).front()});
  set_labels(node, labels, xla::ConvertElementType(is_second, xla::S32));
  if (is_first) {
    const bool adds_up = transform == PostTransform::kProbit ||
                         (transform == PostTransform::kNone && votes.are_positive);
    const XlaOp negative =
        adds_up ? xla::Sub(scalar_like(node, positive, 1), positive) : xla::Neg(positive);
    scores = xla::ConcatInDim(&node.builder(), {negative, positive}, 1);
  }
  const XlaOp made = apply_post_transform(node, scores, transform);
  node.set(1, xla::ConvertElementType(made, xla::F32));
}

void lower_tree_classifier(Node& node) {
  const XlaOp x = feature_values(node);
  const ClassLabels labels = class_labels(node, "classlabels_int64s");
  const Forest forest =
      read_forest(node, {.prefix = "class", .targets = labels.count}, node.sizes_of(x).back());
  const auto transform = post_transform_of(node);
  std::vector<double> base = forest_numbers(node, "base_values").values;
  // A single one is for the first of two classes, as in ONNX Runtime.
  if (base.size() == 1 && labels.count == 2) base.push_back(0);
  const XlaOp scores = with_base_values(node, walk_forest(node, x, forest), base);
  const ClassVotes votes = class_votes(forest);
  if (labels.count == 2 && votes.classes.size() == 1) {
    return set_binary_classes(node, scores, votes, labels, transform);
  }
  set_labels(node, labels, place_of_largest(scores));
  const XlaOp made = apply_post_transform(node, scores, transform);
  node.set(1, xla::ConvertElementType(made, xla::F32));
}

}  // namespace

std::vector<OnnxOperator> tree_operators() {
  const std::string domain = "ai.onnx.ml";
  return {
      {"TreeEnsemble", 5, lower_tree_ensemble, {}, domain},
      {"TreeEnsembleClassifier", 1, lower_tree_classifier, {}, domain},
      {"TreeEnsembleRegressor", 1, lower_tree_regressor, {}, domain},
  };
}

}  // namespace tfaot::toolkit::engine
