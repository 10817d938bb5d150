// SPDX-License-Identifier: Apache-2.0
#include "lowering/lowering.h"

#include <fmt/format.h>

#include "lowering/conversions.h"
#include "lowering/limits.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_description.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return "(" + sizes_text(shape) + ")";
}

std::vector<std::int64_t> row_shape(const xla::Shape& shape) {
  return {shape.dimensions().begin() + 1, shape.dimensions().end()};
}

xla::Shape one_row(const xla::Shape& shape) {
  std::vector<std::int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions.insert(dimensions.begin(), 1);
  return xla::ShapeUtil::MakeShape(shape.element_type(), dimensions);
}

Status same_output_rows(const SizedModel& model, const SizedModel& other) {
  for (std::size_t i = 0; i < model.lowered->outputs.size(); ++i) {
    const auto& a = model.lowered->outputs[i];
    const auto& b = other.lowered->outputs[i];
    if (a.row_shape == b.row_shape) continue;
    return fail(
        Error(fmt::format("output '{}': the shape of a row depends on the batch size: {} at "
                          "{}, {} at {}",
                          a.name, shape_text(a.row_shape), model.rows, shape_text(b.row_shape),
                          other.rows))
            .note("every output must have one row per event, of a fixed shape")
            .about(word_of(ProblemKind::kBatch), {a.name}));
  }
  return {};
}

Status check_output_rows(const Lowering& lowering, const LoweredModel& lowered,
                         std::int64_t batch_size, bool coupled) {
  if (lowering.has_fixed_batch()) return {};
  const auto other = lowering.lower(batch_size + 1);
  if (!other) return coupled ? Status() : fail(other.error());
  return same_output_rows({&lowered, batch_size}, {&*other, batch_size + 1});
}

}  // namespace tfaot::toolkit::engine
