// SPDX-License-Identifier: Apache-2.0
// The passes that bring a module into a form that patterns and kernels know, in the order of their
// table (code/passes.cc). They end as the passes of kernels/passes.h do. Used by one thread.
#pragma once

#include "hlo/choices.h"
#include "hlo/weight_values.h"
#include "tfaot/base/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace tfaot::toolkit::engine {

// Numbers of 16 bits (float16, bfloat16) become float32 inside a module. Operations then do not
// round; a cast of the model to 16 bits does, one from them to whole numbers, and so do the
// outputs. Parameters and results of the entry computation keep their types.
Status widen_halves(xla::HloModule& module);
// XLA's simplifier writes the transposes of attention's heads as concatenations of slices, where
// there is one row in the batch. A product reads through a transpose, by its strides.
Status restore_sliced_transpose(xla::HloInstruction& joined);
// TensorFlow writes a convolution with a dilated window as three operations: SpaceToBatch moves the
// elements that a window meets next to each other, BatchToSpace moves the results back.
Status restore_dilated_window(xla::HloInstruction& convolution);
// ScatterElements names a place for each element, also where the indices are the same for whole
// rows, as the sums over edges of graph nets from PyTorch have them. Scatters take such rows as
// windows, which XLA adds as vectors.
Status widen_scatter_window(xla::HloInstruction& scatter);
// A product whose left side repeats rows of smaller tensors (repeated_rows.cc).
Status multiply_before_repeating(xla::HloInstruction& product, const WeightValues& values,
                                 const Choices& choices);
// What a step of a loop multiplies with a matrix that is the same in all steps, and that depends on
// nothing but the step's part of a sequence, is one product of the whole sequence before the loop.
Status hoist_step_products(xla::HloModule& module);
// Scales and shifts of the columns of a product's left side move into its weight: (x * s + t) W is
// x (s W) + t W, as where batch normalisation comes after an activation. x is an activation of what
// a product computes: an input may be far from zero, and a shift of it would then cost digits.
Status move_scale_into_weight(xla::HloInstruction& dot, const WeightValues& values,
                              const Choices& choices);

}  // namespace tfaot::toolkit::engine
