// SPDX-License-Identifier: Apache-2.0
// What `tfaot info --html` shows of a config. Pure function.
#pragma once

#include "tfaot/records/model_spec.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit {

report::Page config_page(const ModelSpec& spec);

}  // namespace tfaot::toolkit
