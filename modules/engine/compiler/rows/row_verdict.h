// SPDX-License-Identifier: Apache-2.0
// Decides about a model whose rows are not proved to be treated alone: refuse it, accept it with a
// note, or accept it with a warning. Runs nothing itself. Used by one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/rows/row_facts.h"
#include "compiler/rows/row_trial.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

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

}  // namespace tfaot::toolkit::engine
