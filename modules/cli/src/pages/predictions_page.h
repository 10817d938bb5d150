// SPDX-License-Identifier: Apache-2.0
// What `tfaot run --html` shows. Pure function.
#pragma once

#include "tfaot/report/page.h"
#include "tfaot/workflow/run_package.h"

namespace tfaot::toolkit {

report::Page predictions_page(const RunResult& result);

}  // namespace tfaot::toolkit
