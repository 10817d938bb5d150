// SPDX-License-Identifier: Apache-2.0
// Runs a lowered model to see whether the rows of a batch depend on each other. Its code is made
// for this machine, whatever the model is compiled for. A difference proves that they do; no
// difference does not prove that they do not. Used by one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/hlo/evaluate.h"
#include "compiler/hlo/lowering.h"

namespace tfaot::toolkit::engine {

// For each output: what was seen ("row 0 changed with the others"), or nothing. Error: the model
// cannot run, or does not end within 10 s. `other`, if given, is the same model at another batch
// size.
using TrialFindings = std::vector<std::optional<std::string>>;
Result<TrialFindings> try_rows(const SizedModel& model, const std::optional<SizedModel>& other,
                               const std::function<Result<Value>(std::size_t)>& weight);

// The same, but only compares the rows that both batch sizes have.
Result<TrialFindings> try_sizes(const SizedModel& model, const SizedModel& other,
                                const std::function<Result<Value>(std::size_t)>& weight);

}  // namespace tfaot::toolkit::engine
