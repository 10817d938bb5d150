// SPDX-License-Identifier: Apache-2.0
// What `tfaot validate --html` shows, and what `tfaot info --html` shows of a recorded validation.
// Pure functions.
#pragma once

#include <vector>

#include "tfaot/report/page.h"
#include "tfaot/workflow/validate_package.h"

namespace tfaot::toolkit {

report::Page validation_page(const ValidationResult& result);

// A row for each: output, inputs, verdict, differences, place.
report::Table differences_table(const std::vector<ValidatedOutput>& outputs);

}  // namespace tfaot::toolkit
