// SPDX-License-Identifier: Apache-2.0
// Which batches a package is validated with. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/records/manifest.h"
#include "tfaot/records/validation.h"

namespace tfaot::toolkit {

struct ValidationBatch {
  std::int64_t rows = 0;
  Composition composition = Composition::kCompiled;
  std::string rule;  // of the runtime, "5:2,4"; empty: the runtime chooses
};

// Whether any number of rows may run: rows are independent, and there is a batch.
bool composes_batches(const Manifest& manifest);

// For each compiled size: it alone, padding, and two calls; then more rows than two of the largest
// size, and `file_rows` if there are any. If batches are not composed, the compiled
// sizes alone.
std::vector<ValidationBatch> validation_batches(const Manifest& manifest, std::int64_t file_rows);

}  // namespace tfaot::toolkit
