// SPDX-License-Identifier: Apache-2.0
// Packs matrices and filters into the panels that the kernels read (tfaot/kernels/abi.h), by HLO
// that folding evaluates. Used by one thread.
#pragma once

#include "compiler/hlo/build.h"

namespace tfaot::toolkit::engine {

// [groups, depth, columns] -> [groups, panels, depth, panel columns].
HloInstruction* pack(HloInstruction* matrices);

// The same as words of 32 bits: [groups * panels, words, panel columns, numbers of a word], where
// the numbers of a word, converted to `type`, are neighbours along the depth.
HloInstruction* pack_words(HloInstruction* matrices, xla::PrimitiveType type, std::int64_t numbers);

// Several packed tensors as one, each after the one before.
HloInstruction* pack_together(const Instructions& packed);

// The matrices [depth, columns] of a recurrent kernel's gates, as blocks with this many panels of
// each (tfaot/kernels/abi.h).
HloInstruction* pack_gates(const Instructions& gates, std::int64_t panels);
// Vectors of all gates, as whole blocks [blocks, gates * panels, panel columns].
HloInstruction* pack_biases(const Instructions& gates, std::int64_t panels);

// The result of pack_gates(): of `hidden` columns, with this many gates.
struct PackedGates {
  HloInstruction* weights;
  std::int64_t hidden, gates, panels;
};
// One whose depth is that of both.
HloInstruction* join_depths(const PackedGates& first, HloInstruction* second);

}  // namespace tfaot::toolkit::engine
