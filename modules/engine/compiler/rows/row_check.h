// SPDX-License-Identifier: Apache-2.0
// Refuses models in which rows of a batch depend on each other. A batch is composed of compiled
// sizes; this gives TensorFlow's results only if each row is treated alone. First tries to prove it
// (row_flow.h), then runs the model, then decides: refuse it, accept it with a note, or accept it
// with a warning. Used by one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "compiler/hlo/weight_store.h"
#include "compiler/rows/row_flow.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// For each output: what trial runs showed ("row 0 changed with the others"), or nothing.
using TrialFindings = std::vector<std::optional<std::string>>;
// Receives what the user should know although the model is accepted.
struct RowMessages {
  std::function<void(const std::string&)> warning;
  std::function<void(const std::string&)> detail;
};

// An output whose rows are not proved to be independent.
struct RowDoubt {
  std::string output;
  std::size_t index = 0;  // of the output
  const RowCause* cause = nullptr;
};

// `tried`: the findings of trial runs, or why there were none. It is an error if rows were seen to
// mix in an output. REQUIRES: doubts.
Status judge_rows(const std::vector<RowDoubt>& doubts, const Result<TrialFindings>& tried,
                  const RowMessages& messages);

// Two batch sizes, the smaller one first, of which no other dimension of the model is a multiple.
std::pair<std::int64_t, std::int64_t> telling_batch_sizes(const LoweredModel& lowered);

// `sized` is the model at one of its `batch_sizes`. Errors name the output and the operation.
Status check_rows_alone(const Lowering& lowering, const SizedModel& sized,
                        const std::vector<std::int64_t>& batch_sizes, const WeightStore& weights,
                        const RowMessages& messages);

}  // namespace tfaot::toolkit::engine
