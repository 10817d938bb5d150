// SPDX-License-Identifier: Apache-2.0
// Refuses models in which rows of a batch depend on each other. A batch is composed of compiled
// sizes; this gives TensorFlow's results only if each row is treated alone. First tries to prove it
// (row_flow.h), then runs the model (row_trial.h). Used by one thread.
#pragma once

#include "compiler/hlo/lowering.h"
#include "compiler/hlo/weight_store.h"
#include "compiler/rows/row_verdict.h"

namespace tfaot::toolkit::engine {

// `sized` is the model at one of its `batch_sizes`. Errors name the output and the operation.
Status check_rows_alone(const Lowering& lowering, const SizedModel& sized,
                        const std::vector<std::int64_t>& batch_sizes, const WeightStore& weights,
                        const RowMessages& messages);

}  // namespace tfaot::toolkit::engine
