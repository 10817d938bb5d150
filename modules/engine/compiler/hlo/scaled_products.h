// SPDX-License-Identifier: Apache-2.0
// Scales and shifts of columns next to products. Used by one thread.
#pragma once

#include <optional>

#include "compiler/hlo/weight_values.h"

namespace tfaot::toolkit::engine {

// An operation that scales or shifts the columns of x, by known numbers that are the same for all
// rows.
struct ColumnStep {
  xla::HloInstruction* numbers;  // [columns], added or multiplied with
  bool is_scale;
};
// Nothing for other operations.
std::optional<ColumnStep> column_step(const xla::HloInstruction& operation,
                                      const xla::HloInstruction* x, const WeightValues& values);

}  // namespace tfaot::toolkit::engine
