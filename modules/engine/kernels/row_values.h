// SPDX-License-Identifier: Apache-2.0
// Tensors seen as rows of a matrix: functions of rows are found by what is one number of each row,
// and what is one number of each column. Used by one thread.
#pragma once

#include <optional>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Of a sum or a normalisation; XLA's loops go over shorter rows as fast.
inline constexpr std::int64_t kFewestColumns = 8;

struct RowsAndColumns {
  std::int64_t rows, columns;
  std::int64_t size() const { return rows * columns; }
};

// A reduction by one opcode (kAdd, kMaximum), from 0 or the lowest number.
bool is_plain_reduction(const xla::HloInstruction& reduce, xla::HloOpcode opcode);

// The plain reduction of each row; nothing if it is none. The last dimensions are the columns.
struct RowReduction {
  xla::HloInstruction* of;
  RowsAndColumns sizes;
};
std::optional<RowReduction> row_reduction(xla::HloInstruction& reduce, xla::HloOpcode opcode);

// What is behind reshapes of it.
xla::HloInstruction* behind_reshapes(xla::HloInstruction* value);

// The number in all elements, if there is one.
std::optional<double> number_of(const xla::HloInstruction& value);

// The root, if the value is a square; null: it is none.
xla::HloInstruction* squared(xla::HloInstruction* value);

// Whether constants are the same but for their rounding.
bool is_near(double a, double b);

// The tensor of `sizes.rows` numbers that `value`, a tensor of all elements, spreads over the
// columns; null: none.
xla::HloInstruction* row_numbers(xla::HloInstruction& value, const RowsAndColumns& sizes);

// Whether it is float32, as these kernels need it.
bool has_row_kernels(const xla::HloInstruction& value);

std::int64_t elements_of(const xla::HloInstruction& value);

}  // namespace tfaot::toolkit::engine
