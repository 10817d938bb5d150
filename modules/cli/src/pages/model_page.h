// SPDX-License-Identifier: Apache-2.0
// What `tfaot info --html` shows of a model. Pure function.
#pragma once

#include <string>

#include "tfaot/records/model_description.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit {

// `name`: of its file or folder.
report::Page model_page(const ModelDescription& model, const std::string& name);

}  // namespace tfaot::toolkit
