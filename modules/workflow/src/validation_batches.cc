// SPDX-License-Identifier: Apache-2.0
#include "validation_batches.h"

#include <fmt/format.h>

namespace tfaot::toolkit {

bool composes_batches(const Manifest& manifest) {
  return manifest.rows == RowsMode::kAlone && manifest.batch == BatchMode::kFirst;
}

std::vector<ValidationBatch> validation_batches(const Manifest& manifest, std::int64_t file_rows) {
  const std::vector<std::int64_t>& sizes = manifest.batch_sizes;
  const bool coupled = !composes_batches(manifest);
  std::vector<ValidationBatch> batches;
  for (const std::int64_t size : sizes) {
    batches.push_back({size, Composition::kCompiled, coupled ? "" : fmt::format("{0}:{0}", size)});
  }
  if (coupled) return batches;
  for (const std::int64_t size : sizes) {
    if (size == 1) continue;
    batches.push_back({size - 1, Composition::kPadded, fmt::format("{}:{}", size - 1, size)});
  }
  const std::int64_t least = sizes.front();
  for (const std::int64_t size : sizes) {
    batches.push_back(
        {size + least, Composition::kStitched, fmt::format("{}:{},{}", size + least, size, least)});
  }
  batches.push_back({2 * sizes.back() + 1, Composition::kPlanned, ""});
  if (file_rows > 0) batches.push_back({file_rows, Composition::kPlanned, ""});
  return batches;
}

}  // namespace tfaot::toolkit
