// SPDX-License-Identifier: Apache-2.0
// What becomes of a model of which it is not proved that each row is treated alone: refused, passed
// with a note, or passed with a warning. Runs nothing itself. Used by one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rows/row_facts.h"
#include "rows/row_trial.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// Where what the user should know goes, although the model is not refused.
struct RowMessages {
  std::function<void(const std::string&)> warning;
  std::function<void(const std::string&)> detail;
};

// An output whose rows are not proved to be alone.
struct RowDoubt {
  std::string output;
  std::size_t index = 0;  // of the output
  const RowCause* cause = nullptr;
};

// `tried`: what trial runs showed, or why there were none. Outputs whose rows were seen to mix are
// an error. REQUIRES: doubts.
Status judge_rows(const std::vector<RowDoubt>& doubts, const Result<TrialFindings>& tried,
                  const RowMessages& messages);

}  // namespace tfaot::toolkit::engine
