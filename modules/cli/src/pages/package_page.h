// SPDX-License-Identifier: Apache-2.0
// What `tfaot info --html` shows of a package. Pure function.
#pragma once

#include <string>

#include "tfaot/records/manifest.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit {

// `kind`: "archive" or "package tree".
report::Page package_page(const Manifest& manifest, const std::string& kind);

}  // namespace tfaot::toolkit
