// SPDX-License-Identifier: Apache-2.0
// What is summed up for a gate of a recurrent cell: products of a state with known matrices, what
// is the same for all rows, and the rest. Gates are often columns of one tensor with all of them,
// so a part is some columns of a tensor. Used by one thread.
#pragma once

#include <vector>

#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

// Columns are the last dimension of a tensor, and all others are rows: XLA takes dimensions of size
// 1 away and puts them in.
std::int64_t column_count(const xla::HloInstruction& tensor);
const xla::HloInstruction& without_reshapes(const xla::HloInstruction& value);

// Columns from `column` on.
struct GatePart {
  xla::HloInstruction* source;
  std::int64_t column;
};

// left [rows, depth] times columns of a known matrix.
struct GateProduct {
  xla::HloInstruction* left;
  GatePart right;
  bool is_transposed;  // the matrix is [columns, depth]
  GatePart result;     // the same as a part

  bool has_left(const xla::HloInstruction& state) const {
    return &without_reshapes(*left) == &without_reshapes(state);
  }
};

struct GateSum {
  std::vector<GateProduct> products;
  std::vector<GatePart> inputs;
  std::vector<GatePart> biases;  // of known tensors with one row, or of one element

  std::int64_t products_with(const xla::HloInstruction& state) const;
  // The inputs, and the products with anything else.
  std::vector<GatePart> inputs_without(const xla::HloInstruction& state) const;
  // [depth, columns] of the product with that state. REQUIRES: there is one.
  xla::HloInstruction* matrix_for(const xla::HloInstruction& state, std::int64_t columns) const;
};

GateSum gate_sum(xla::HloInstruction* gate, const WeightValues& values);

// A part of one dimension.
xla::HloInstruction* columns_of(xla::HloInstruction* operand, std::int64_t dimension,
                                std::int64_t first, std::int64_t count);
xla::HloInstruction* joined(const std::vector<xla::HloInstruction*>& parts, std::int64_t dimension);

}  // namespace tfaot::toolkit::engine
