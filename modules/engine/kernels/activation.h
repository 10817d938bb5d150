// SPDX-License-Identifier: Apache-2.0
// Activations whose course is known: the largest of their values over a window is that of the
// window's largest number, or, where they fall before they rise (gelu, swish), of its largest or
// smallest. Pooling may so come first, and the activation is computed for fewer numbers. Used by
// one thread.
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

// The activation that ends with `output`; nothing if it is not one of those, or used elsewhere too.
std::optional<Activation> find_activation(xla::HloInstruction& output);

// The same of another input, which may have another shape.
xla::HloInstruction* apply(const Activation& activation, xla::HloInstruction* input);

}  // namespace tfaot::toolkit::engine
