// SPDX-License-Identifier: Apache-2.0
// What `tfaot check --html` shows. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "text/check_report.h"
#include "tfaot/report/page.h"
#include "tfaot/workflow/check_model.h"

namespace tfaot::toolkit {

// `name`: of the model's or config's file or folder.
report::Page check_page(const ModelCheck& check, const std::string& name);
// `tfaot check --ops --html`.
report::Page operations_page(const KnownOperations& known);

}  // namespace tfaot::toolkit
