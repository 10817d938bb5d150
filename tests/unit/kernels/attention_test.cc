// SPDX-License-Identifier: Apache-2.0
// tfaot_attention against its formula in double precision.
#include "tfaot/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

using kernels::AttentionCall;
using kernels::MatMulCall;

class Attention : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Attention, ::testing::ValuesIn(all_levels()), name_of_level);

struct Sizes {
  Int outer, inner, rows, columns, depth, width;
};

// Queries, keys, values and results as [outer, rows, inner, width], with heads side by side, or,
// if not `has_heads`, as [outer, inner, rows, width]. Keys have their depth first if `is_turned`.
AttentionCall call_for(const Sizes& s, bool has_heads, bool is_turned, double scale) {
  MatMulCall scores = {};
  scores.epilogue = kernels::kEpiloguePlaced;
  scores.batch = s.outer * s.inner;
  scores.inner_batch = s.inner;
  scores.rows = s.rows;
  MatMulCall result = scores;
  const auto side = [&](Int lines, Int width, Int& batch, Int& inner, Int& line) {
    batch = s.inner * lines * width;
    inner = has_heads ? width : lines * width;
    line = has_heads ? s.inner * width : width;
  };
  scores.columns = s.columns;
  scores.depth = s.depth;
  side(s.rows, s.depth, scores.lhs_batch_stride, scores.lhs_inner_stride, scores.lhs_row_stride);
  scores.lhs_depth_stride = 1;
  side(s.columns, s.depth, scores.rhs_batch_stride, scores.rhs_inner_stride,
       scores.rhs_column_stride);
  scores.rhs_depth_stride = 1;
  if (is_turned && !has_heads) {
    scores.rhs_depth_stride = s.columns;
    scores.rhs_column_stride = 1;
  }
  result.columns = s.width;
  result.depth = s.columns;
  side(s.columns, s.width, result.rhs_batch_stride, result.rhs_inner_stride,
       result.rhs_depth_stride);
  result.rhs_column_stride = 1;
  side(s.rows, s.width, result.result_batch_stride, result.result_inner_stride,
       result.result_row_stride);
  return {scores, result, scale};
}

void check(Kernel kernel, const Sizes& s, bool has_heads, bool is_turned, Random& random) {
  const AttentionCall call = call_for(s, has_heads, is_turned, random.one_in(2) ? 0.25 : 1);
  SCOPED_TRACE(std::to_string(s.outer) + " x " + std::to_string(s.inner) + " of " +
               std::to_string(s.rows) + " x " + std::to_string(s.depth) + " x " +
               std::to_string(s.columns) + " to " + std::to_string(s.width) +
               (has_heads ? ", heads" : ""));
  const MatMulCall& a = call.scores;
  const MatMulCall& b = call.result;
  Tensor<float> q(a.batch * s.rows * s.depth), k(a.batch * s.columns * s.depth);
  Tensor<float> v(a.batch * s.columns * s.width), y(a.batch * s.rows * s.width);
  Tensor<float> scratch(kernels::attention_scratch_bytes(call) / Int{sizeof(float)}, 64);
  random.fill(q);
  random.fill(k);
  random.fill(v);
  for (Int i = 0; i < q.size(); ++i) q[i] *= 5;
  void* out[] = {y.data(), scratch.data()};
  const void* in[] = {&call, q.data(), k.data(), v.data()};
  kernel(out, in);

  for (Int m = 0; m < a.batch; ++m) {
    const Int outer = m / s.inner, inner = m % s.inner;
    const auto at = [&](Int batch_stride, Int inner_stride) {
      return outer * batch_stride + inner * inner_stride;
    };
    const Int q0 = at(a.lhs_batch_stride, a.lhs_inner_stride);
    const Int k0 = at(a.rhs_batch_stride, a.rhs_inner_stride);
    const Int v0 = at(b.rhs_batch_stride, b.rhs_inner_stride);
    const Int y0 = at(b.result_batch_stride, b.result_inner_stride);
    std::vector<double> weights(static_cast<std::size_t>(s.columns));
    for (Int i = 0; i < s.rows; ++i) {
      for (Int j = 0; j < s.columns; ++j) {
        double score = 0;
        for (Int l = 0; l < s.depth; ++l) {
          score += double{q[q0 + i * a.lhs_row_stride + l]} *
                   double{k[k0 + j * a.rhs_column_stride + l * a.rhs_depth_stride]};
        }
        weights[static_cast<std::size_t>(j)] = score * call.scale;
      }
      const double peak = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - peak);
      for (Int j = 0; j < s.width; ++j) {
        double mean = 0;
        for (Int l = 0; l < s.columns; ++l) {
          mean += weights[static_cast<std::size_t>(l)] / sum *
                  double{v[v0 + l * b.rhs_depth_stride + j]};
        }
        ASSERT_NEAR(y[y0 + i * b.result_row_stride + j], mean, 1e-5) << "row " << i << ", " << j;
      }
    }
  }
}

TEST_P(Attention, IsThatOfPlainLoops) {
  Random random(1);
  const Kernel kernel = GetParam().attention;
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const Sizes sizes = {random.between(1, 3),  random.between(1, 3),  random.between(1, 40),
                         random.between(1, 70), random.between(1, 20), random.between(1, 40)};
    check(kernel, sizes, random.one_in(2), random.one_in(2), random);
  }
  // Several blocks of rows, the last one not full; rows of more scores than a block has room for.
  check(kernel, {1, 2, 250, 130, 16, 24}, true, false, random);
  check(kernel, {1, 1, 60, 2900, 4, 3}, false, true, random);
}

}  // namespace
}  // namespace tfaot::kernels_test
