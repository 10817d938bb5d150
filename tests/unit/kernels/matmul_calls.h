// SPDX-License-Identifier: Apache-2.0
// Calls of tfaot_matmul.
#pragma once

#include <string>
#include <utility>

#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {

using kernels::MatMulCall;

inline std::string describe(const MatMulCall& c) {
  std::string text;
  const Int* field = &c.batch;
  for (std::size_t i = 0; i < sizeof c / sizeof(Int); ++i) text += std::to_string(field[i]) + " ";
  return text;
}

// Elements of a tensor with these sizes and steps.
inline Int extent(std::initializer_list<std::pair<Int, Int>> counts_and_strides) {
  Int last = 0;
  for (const auto& [count, stride] : counts_and_strides) last += (count - 1) * stride;
  return last + 1;
}

inline MatMulCall plain(Int batch, Int rows, Int columns, Int depth) {
  MatMulCall c = {};
  c.batch = batch;
  c.rows = rows;
  c.columns = columns;
  c.depth = depth;
  c.lhs_batch_stride = rows * depth;
  c.lhs_row_stride = depth;
  c.lhs_depth_stride = 1;
  c.rhs_batch_stride = depth * columns;
  c.rhs_depth_stride = columns;
  c.rhs_column_stride = 1;
  return c;
}

// Transposed, padded or repeated (stride zero) operands.
inline MatMulCall with_random_strides(MatMulCall c, Random& random) {
  const Int gap = random.one_in(2) ? 0 : random.between(1, 5);
  if (random.one_in(2)) {
    c.lhs_depth_stride = c.rows + gap;
    c.lhs_row_stride = 1;
    c.lhs_batch_stride = c.depth * c.lhs_depth_stride;
  } else {
    c.lhs_row_stride = c.depth + gap;
    c.lhs_batch_stride = c.rows * c.lhs_row_stride;
  }
  if (random.one_in(2)) {
    c.rhs_column_stride = c.depth + gap;
    c.rhs_depth_stride = 1;
    c.rhs_batch_stride = c.columns * c.rhs_column_stride;
  } else if (random.one_in(4)) {
    c.rhs_column_stride = 2;
    c.rhs_depth_stride = 2 * c.columns + gap;
    c.rhs_batch_stride = c.depth * c.rhs_depth_stride;
  } else {
    c.rhs_depth_stride = c.columns + gap;
    c.rhs_batch_stride = c.depth * c.rhs_depth_stride;
  }
  for (Int* stride : {&c.lhs_batch_stride, &c.lhs_row_stride, &c.lhs_depth_stride,
                      &c.rhs_batch_stride, &c.rhs_depth_stride, &c.rhs_column_stride}) {
    if (random.one_in(12)) *stride = 0;
  }
  return c;
}

}  // namespace tfaot::kernels_test
