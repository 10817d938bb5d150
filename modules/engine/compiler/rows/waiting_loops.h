// SPDX-License-Identifier: Apache-2.0
// Loops that go on until all rows of a batch are done, such as XLA's for betainc. A row that waits
// for others would change by some rounding in each further turn. Here it keeps the values with
// which the loop would end for this row alone, so its result does not depend on the others. Used by
// one thread.
#pragma once

#include <memory>

#include "compiler/hlo/hlo.h"
#include "compiler/hlo/lowering.h"

namespace tfaot::toolkit::engine {

// The same lowering with such loops.
std::unique_ptr<Lowering> with_frozen_rows(std::unique_ptr<Lowering> lowering);

// Changes the loops of the entry computation, whose parameters before `inputs` have `rows` rows.
// Loops in which rows depend on each other in other ways stay. Returns true if any was changed.
Result<bool> freeze_done_rows(xla::HloModule& module, std::int64_t inputs, std::int64_t rows);

}  // namespace tfaot::toolkit::engine
