// SPDX-License-Identifier: Apache-2.0
// Operations that only move elements (transpose, slice, pad, ...), on literals. HloEvaluator
// would take a second for what is a copy here. Pure functions.
#pragma once

#include <optional>

#include "hlo/hlo.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

// The result of `instruction` for these operands; nothing when it does more than move elements.
// All literals are dense and row-major.
std::optional<xla::Literal> evaluate_shape_op(const xla::HloInstruction& instruction,
                                              absl::Span<const xla::LiteralBase* const> operands);

}  // namespace tfaot::toolkit::engine
