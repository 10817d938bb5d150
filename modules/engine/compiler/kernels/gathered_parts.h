// SPDX-License-Identifier: Apache-2.0
// Calls of the gather kernel: rows that are put together of parts, each of which is a row of a
// tensor, by its number or in order. Used by one thread.
#pragma once

#include <vector>

#include "compiler/hlo/hlo.h"
#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

struct GatheredPart {
  xla::HloInstruction* x = nullptr;
  xla::HloInstruction* places = nullptr;  // null: there is no operand
  kernels::GatherPart of{};               // numbers of operands are not set
};

// An instruction as `count` rows: row r begins at element at + r * step of `base`.
struct StridedRows {
  xla::HloInstruction* base;
  std::int64_t at, step;
};
// Looks through reshapes and slices.
StridedRows strided_rows(xla::HloInstruction* instruction, std::int64_t count);

// Row i takes row i of `x`, which has as many.
GatheredPart part_in_order(xla::HloInstruction* x, std::int64_t rows);
// Rows of `x` by `places`, one for each of `rows`. A conversion of the places, or a slice that made
// them, becomes part of the call.
GatheredPart part_by_places(xla::HloInstruction* x, xla::HloInstruction* places,
                            std::int64_t elements);

// One call. `model` is the instruction it replaces.
xla::HloInstruction* add_gather(const std::vector<GatheredPart>& parts, const Dimensions& result,
                                const xla::HloInstruction& model);
// The same for a call without operands yet, whose struct the parts follow.
xla::HloInstruction* add_call_of_parts(KernelCall made, const std::vector<GatheredPart>& parts,
                                       const xla::HloInstruction& model);
// REQUIRES: a call of kGather.
std::vector<kernels::GatherPart> gather_parts(const xla::HloInstruction& kernel);

}  // namespace tfaot::toolkit::engine
