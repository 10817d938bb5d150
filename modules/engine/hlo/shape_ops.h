// SPDX-License-Identifier: Apache-2.0
// Operations on literals that only move elements (transpose, slice, pad, ...). Here each is a copy,
// where HloEvaluator would take a second. Pure functions.
#pragma once

#include <optional>

#include "hlo/hlo.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

// The result of `instruction` for these operands; nothing if it does more than move elements. All
// literals are dense and row-major.
std::optional<xla::Literal> evaluate_shape_op(const xla::HloInstruction& instruction,
                                              absl::Span<const xla::LiteralBase* const> operands);

}  // namespace tfaot::toolkit::engine
