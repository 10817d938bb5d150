// SPDX-License-Identifier: Apache-2.0
// Rows through matrix products and convolutions.
#include <algorithm>
#include <array>

#include "compiler/rows/row_flow.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sources = RowFlow::Sources;

constexpr const char* kSum = "adds up over the rows of the batch";

RowFact dot_fact(const HloInstruction& one, RowFlow& flow) {
  const auto& numbers = one.dot_dimension_numbers();
  const std::array operands = {&flow.of(one.operand(0)), &flow.of(one.operand(1))};
  const std::array batches = {&numbers.lhs_batch_dimensions(), &numbers.rhs_batch_dimensions()};
  const std::array sums = {&numbers.lhs_contracting_dimensions(),
                           &numbers.rhs_contracting_dimensions()};
  Sources sources;
  for (int i = 0; i < batches[0]->size(); ++i) {
    sources.push_back({{operands[0], (*batches[0])[i]}, {operands[1], (*batches[1])[i]}});
  }
  for (std::size_t side = 0; side < operands.size(); ++side) {
    for (std::int64_t d = 0; d < std::ssize(operands[side]->axes); ++d) {
      if (contains(*sums[side], d)) {
        const auto* cause = flow.taken_together(one, static_cast<std::int64_t>(side), d, kSum);
        if (cause != nullptr) return unknown(one.shape(), cause);
      } else if (!contains(*batches[side], d)) {
        sources.push_back({{operands[side], d}});
      }
    }
  }
  return flow.made(one, one.shape(), sources);
}

// A convolution with groups of features that contain rows: each row has its own groups.
bool rows_are_groups(const Axis& features, std::int64_t groups, std::int64_t batch) {
  const auto place = row_place(features);
  return place && place->outer == 1 && groups % batch == 0;
}

RowFact convolution(const HloInstruction& one, RowFlow& flow) {
  const auto& numbers = one.convolution_dimension_numbers();
  const RowFact& images = flow.of(one.operand(0));
  const RowFact& kernel = flow.of(one.operand(1));
  const auto image = [&](std::int64_t d) { return images.axes[static_cast<std::size_t>(d)]; };
  const auto weight = [&](std::int64_t d) { return kernel.axes[static_cast<std::size_t>(d)]; };
  Sources sources(static_cast<std::size_t>(one.shape().rank()));
  const auto result = [&](std::int64_t d) -> auto& { return sources[static_cast<std::size_t>(d)]; };

  if (one.batch_group_count() > 1 && (images.has_rows() || kernel.has_rows())) {
    return flow.not_clear(one, "has groups of images");
  }
  result(numbers.output_batch_dimension()) = {{&images, numbers.input_batch_dimension()}};
  for (int i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const auto from = numbers.input_spatial_dimensions(i);
    if (has_rows(weight(numbers.kernel_spatial_dimensions(i)))) return flow.mixed(one, kSum);
    if (stays_put(one.window().dimensions(i))) {
      result(numbers.output_spatial_dimensions(i)) = {{&images, from}};
    } else if (has_rows(image(from))) {
      return flow.mixed(one, "moves a window over the rows of the batch");
    }
  }
  auto& features = result(numbers.output_feature_dimension());
  const auto outputs = numbers.kernel_output_feature_dimension();
  features = {{&kernel, outputs}};
  if (has_rows(weight(numbers.kernel_input_feature_dimension()))) return flow.mixed(one, kSum);
  const Axis& from = image(numbers.input_feature_dimension());
  const std::int64_t batch = flow.study().batch();
  RowFact groups;
  groups.axes = {tidy({{batch, Along::kRows}, {size_of(weight(outputs)) / batch, Along::kSame}})};
  if (one.feature_group_count() == 1) {
    const auto* cause = flow.taken_together(one, 0, numbers.input_feature_dimension(), kSum);
    if (cause != nullptr) return unknown(one.shape(), cause);
  } else if (has_rows(from)) {
    if (!rows_are_groups(from, one.feature_group_count(), batch)) {
      return flow.not_clear(one, "has groups of features that are not rows");
    }
    features.push_back({&groups, 0});
  } else if (has_rows(weight(outputs)) && !is_same(from)) {
    return flow.not_clear(one, "has groups of features that are not rows");
  }
  return flow.made(one, one.shape(), sources);
}

}  // namespace

std::optional<RowFact> visit_product(const HloInstruction& one, RowFlow& flow) {
  switch (one.opcode()) {
    case HloOpcode::kDot:
      return dot_fact(one, flow);
    case HloOpcode::kConvolution:
      return convolution(one, flow);
    default:
      return std::nullopt;
  }
}

}  // namespace tfaot::toolkit::engine
