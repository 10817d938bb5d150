// SPDX-License-Identifier: Apache-2.0
// The passes that turn parts of a module into calls of our kernels, in the order of their table
// (code/passes.cc), which says why each is there. A pass of one instruction changes nothing where
// that does not end, or begin, what it replaces; what it replaces stays, without users, until the
// table's driver removes dead code. Used by one thread.
#pragma once

#include "hlo/choices.h"
#include "hlo/weight_values.h"
#include "tfaot/base/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace tfaot::toolkit::engine {

// XLA's loops reduce shorter rows as fast.
inline constexpr std::int64_t kFewestColumns = 8;

// Forests of decision trees (hlo/forest_call.h). REQUIRES: calls are not inlined yet.
Status replace_forest(xla::HloInstruction& forest);
// TensorFlow's means of whole numbers get sums in 64 bits. REQUIRES: XLA's simplifier, which makes
// shifts of quotients, has not run yet.
Status widen_whole_mean(xla::HloInstruction& quotient);
// Products with a known matrix that only chooses rows of a graph's nodes, as interaction networks
// find the ends of edges, become gathers.
Status gather_chosen_rows(xla::HloModule& module);
// Operations that compute each element along a dimension from a few neighbours, with numbers that
// are known while compiling: resizing of images, however it was lowered. These are products with a
// matrix that is nearly all zeros, gathers of windows followed by a product, gathers of an image's
// elements at known places, and elements that are repeated. Calls keep the order of dimensions.
Status replace_resizes(xla::HloModule& module);
// Sorts of numbers, alone or with their places, of which only the first that are used are computed.
Status replace_sorts(xla::HloModule& module, std::int64_t first_weight);
Status replace_recurrent_cell(xla::HloInstruction& next, const WeightValues& values);
Status replace_recurrent_layer(xla::HloInstruction& loop, const WeightValues& values,
                               const Choices& choices);
// Gathers of elements that are contiguous in memory: rows by their numbers, as in graphs of nearest
// neighbours and embeddings.
Status replace_gather(xla::HloInstruction& gather, const WeightValues& values);
Status replace_normalisation(xla::HloInstruction& deviation, const WeightValues& values);
// Means, and differences of numbers and their mean (means.cc). After XLA's simplifier.
Status settle_means(xla::HloModule& module);
// Products of float32 and float64, in any form. A right-hand side that is a weight is packed ahead.
Status replace_dot(xla::HloInstruction& dot, const WeightValues& values, const Choices& choices);
// Convolutions over one to three spatial dimensions, of float32 and float64, in any layout.
Status replace_convolution(xla::HloInstruction& convolution, const WeightValues& values,
                           const Choices& choices);
// Maxima and sums over windows, of float32 and float64, that slide over dimensions between the
// batch and the channels; and over all of such dimensions.
Status replace_pool(xla::HloInstruction& pool);
Status replace_reduction(xla::HloInstruction& reduce, const WeightValues& values);
Status replace_softmax(xla::HloInstruction& quotient, const WeightValues& values);
Status replace_row_sum(xla::HloInstruction& reduce, const WeightValues& values);
Status replace_gelu(xla::HloInstruction& result, const WeightValues& values);
// Products of queries and keys, their softmax, and its product with values, where the scores are
// many: they are then in memory for some rows at a time.
Status replace_attention(xla::HloInstruction& result);
// Joins dense layers that follow each other to one call, with the functions between them.
Status replace_dense_chains(xla::HloModule& module, std::int64_t first_weight);
// Gives products and convolutions the function that follows them.
Status absorb_function(xla::HloInstruction& kernel);
// Sums of rows that are repeated, some of them by number, as multiply_before_repeating leaves them,
// with the relu after them. Sums without a gather, or with terms that XLA computes in its loop,
// stay.
Status replace_added_rows(xla::HloModule& module);
// Gathers that nothing else uses, and slices, are copied to their place in the concatenation at
// once. Concatenations stay whose operands XLA mostly computes in the same loop.
Status replace_concatenation(xla::HloInstruction& concatenate, const WeightValues& values);
// Sums over a last dimension of a few elements, as of the squared differences of two or three
// coordinates of all pairs of points.
Status write_out_short_sum(xla::HloInstruction& reduce);
// Gives a kernel the operand of a reshape: XLA may give the reshaped tensor another layout than the
// kernel asks for, and copies it.
Status pass_before_reshapes(xla::HloInstruction& kernel);
// Fills the table of pointers of one call so that temporaries are aligned (aligned_temporaries.cc).
Status align_temporaries(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
