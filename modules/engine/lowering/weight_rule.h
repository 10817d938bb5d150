// SPDX-License-Identifier: Apache-2.0
// Which constants of a model are weights, for all formats. Formats that keep weights in a place of
// their own (variables, initializers of ONNX, what a frozen graph made of variables) have weights
// of any size there. This rule is for constants anywhere else. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit::engine {

// 16 or more real numbers or bytes, 4096 or more other whole numbers or truth values, which mostly
// say where something is: XLA should know those. Not a single number. `type`: nothing for types
// that no weight has.
bool is_weight_constant(std::optional<DType> type, absl::Span<const std::int64_t> sizes);

// Whole numbers (not bytes) or truth values, too few to be weights by the rule above.
bool is_place_constant(std::optional<DType> type, absl::Span<const std::int64_t> sizes);

}  // namespace tfaot::toolkit::engine
