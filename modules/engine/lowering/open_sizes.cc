// SPDX-License-Identifier: Apache-2.0
#include "lowering/open_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

Error no_size_for(const std::string& tensor, const std::string& dimension) {
  return Error(fmt::format("input '{}': the dimension '{}' has no size", tensor, dimension))
      .note(fmt::format(
          "set it in the config: model.dimensions: {{{0}: SIZE}}, or by '--dimension {0}=SIZE'",
          dimension))
      .about(word_of(ProblemKind::kUnknownShape), {tensor});
}

}  // namespace

void add_dimension(ModelTensor& tensor, std::int64_t size, const std::string& name,
                   const EngineJob& job) {
  const auto given = std::ranges::find(job.dimensions, name, &DimensionSize::name);
  const bool is_open = size < 0 && (given == job.dimensions.end() || name.empty());
  tensor.shape.push_back(is_open ? -1 : size < 0 ? given->size : size);
  tensor.dimensions.push_back(is_open ? name : "");
}

Status check_dimensions(const ModelTensor& input, bool fixed_shapes) {
  for (std::size_t i = fixed_shapes ? 0 : 1; i < input.dimensions.size(); ++i) {
    const std::string& name = input.dimensions[i];
    if (!name.empty()) return fail(no_size_for(input.name, name));
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
