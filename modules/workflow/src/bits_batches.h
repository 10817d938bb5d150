// SPDX-License-Identifier: Apache-2.0
// The batches by which rows are compared, and their inputs. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"
#include "tfaot/workflow/validate_bits.h"

namespace tfaot::toolkit {

// Numbers of rows, ascending: the compiled sizes, and up to 64 those where loops over rows end in
// other ways. Of models whose batches are not composed the compiled sizes alone.
std::vector<std::int64_t> bits_sizes(const Manifest& manifest);

// How the runtime may compose so many rows of the compiled sizes: "5:4,4". The first one is empty:
// as the runtime chooses.
std::vector<std::string> bits_rules(std::int64_t rows, const std::vector<std::int64_t>& sizes);

// These rows, in this order. REQUIRES: the arrays have them.
std::vector<Array> rows_of(const std::vector<Array>& arrays, const std::vector<std::int64_t>& rows);

// The rows replaced. Whole numbers stay, unless all are zeros: they may be indices.
std::vector<Array> with_other_rows(std::vector<Array> arrays, const std::vector<std::int64_t>& rows,
                                   OtherRows by);

// The numbers 0 to rows - 1 in another order, the same on every machine.
std::vector<std::int64_t> shuffled_rows(std::int64_t rows);

// Lists of levels whose bits are compared. On x86-64 those with fused multiply-adds are one; a
// level without them rounds in other places, and so does each level that multiplies bfloat16.
std::vector<std::vector<std::string>> comparable_levels(const CompiledModel& model,
                                                        ComputeType compute,
                                                        const std::vector<std::string>& levels);

}  // namespace tfaot::toolkit
