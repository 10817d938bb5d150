// SPDX-License-Identifier: Apache-2.0
// What `tfaot diff --html` shows. Pure function.
#pragma once

#include <string>
#include <vector>

#include "text/compare.h"
#include "tfaot/records/manifest.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit {

// A package, and the path that the user gave.
struct ComparedPackage {
  const Manifest& manifest;
  const std::string& path;
};

report::Page difference_page(const ComparedPackage& first, const ComparedPackage& second,
                             const std::vector<Difference>& found);

}  // namespace tfaot::toolkit
