// SPDX-License-Identifier: Apache-2.0
// What the operators of ai.onnx.ml do with the scores of targets and classes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// Of the attribute post_transform, in words.
PostTransform post_transform_of(const Node& node);
// Of the same as a number. Refuses unknown ones.
PostTransform numbered_post_transform(const Node& node, std::int64_t number);
// `scores`: [rows, scores of a row].
xla::XlaOp apply_post_transform(const Node& node, xla::XlaOp scores, PostTransform transform);

// As [rows, features]: one dimension is a single row. Refuses more than two.
xla::XlaOp feature_rows(const Node& node, xla::XlaOp x);
// F64 stays, everything else becomes F32.
xla::XlaOp as_real(const Node& node, xla::XlaOp x);

// The labels of classes. Strings are only counted: no result can hold them.
struct ClassLabels {
  std::vector<std::int64_t> numbers;
  std::int64_t count = 0;
  bool are_strings = false;
};
// `integers`: the name of the attribute for integers. Refuses nodes without labels.
ClassLabels class_labels(const Node& node, const std::string& integers);
// Result 0: the label of each row. `places`: [rows], integers.
void set_labels(Node& node, const ClassLabels& labels, xla::XlaOp places);
// The first of the largest of each row: [rows], integers.
xla::XlaOp place_of_largest(xla::XlaOp scores);
// At one place of each row: [rows, 1].
xla::XlaOp score_column(xla::XlaOp scores, std::int64_t place);

// A constant matrix or, with one row, vector.
xla::XlaOp constant_reals(const Node& node, xla::PrimitiveType type,
                          const std::vector<double>& values, const Dimensions& sizes);

}  // namespace tfaot::toolkit::engine
