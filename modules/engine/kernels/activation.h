// SPDX-License-Identifier: Apache-2.0
// Activations with a known shape. The largest of their values over a window is the value of the
// window's largest number. If they fall before they rise (gelu, swish), it is the value of its
// largest or smallest number. So pooling may come first, and the activation is computed for fewer
// numbers. Used by one thread.
#pragma once

#include <optional>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

enum class Course { kRises, kFallsThenRises };

struct Activation {
  xla::HloInstruction* input;
  xla::HloInstruction* output;  // of the input's shape, element by element, NaN for NaN
  Course course;
};

// The activation that ends with `output`; nothing for other functions, or if a part is used
// elsewhere too.
std::optional<Activation> find_activation(xla::HloInstruction& output);

// The same for another input, which may have another shape.
xla::HloInstruction* apply(const Activation& activation, xla::HloInstruction* input);

}  // namespace tfaot::toolkit::engine
