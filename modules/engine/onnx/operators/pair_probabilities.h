// SPDX-License-Identifier: Apache-2.0
// Classes that are compared pair by pair, as support vector machines do: votes and probabilities of
// the classes from those of the pairs. A pair (i, j) has i < j; pairs are in the order of i, then
// j. Used by one thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

std::vector<std::pair<std::int64_t, std::int64_t>> class_pairs(std::int64_t classes);

// [rows, classes]: how many pairs chose the class. `scores`: [rows, pairs], positive for the first
// class of the pair.
xla::XlaOp votes_of_pairs(const Node& node, xla::XlaOp scores, std::int64_t classes);

// [rows, classes]. `first`: [rows, pairs], the probability of the first class of the pair, if it is
// one of both. They seldom fit together; this is the second method of Wu, Lin and Weng (JMLR 5,
// 2004), with the limits of LIBSVM.
xla::XlaOp probabilities_of_pairs(const Node& node, xla::XlaOp first, std::int64_t classes);

}  // namespace tfaot::toolkit::engine
