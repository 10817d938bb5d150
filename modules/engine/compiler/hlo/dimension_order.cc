// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/dimension_order.h"

#include <algorithm>
#include <numeric>

namespace tfaot::toolkit::engine {

DimensionOrder inverse_order(absl::Span<const std::int64_t> order) {
  DimensionOrder inverse(order.size());
  for (std::int64_t d = 0; d < std::ssize(order); ++d) entry(inverse, entry(order, d)) = d;
  return inverse;
}

DimensionOrder sorting_order(absl::Span<const std::int64_t> values) {
  DimensionOrder order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t place) { return entry(values, place); });
  return order;
}

DimensionOrder order_of(const xla::HloInstruction& transpose) {
  return {transpose.dimensions().begin(), transpose.dimensions().end()};
}

std::vector<ReshapeGroup> groups_of(const xla::HloInstruction& reshape) {
  const auto from = reshape.operand(0)->shape().dimensions();
  const auto to = reshape.shape().dimensions();
  std::vector<ReshapeGroup> groups;
  std::int64_t i = 0;
  std::int64_t j = 0;
  while (i < std::ssize(from) || j < std::ssize(to)) {
    ReshapeGroup group;
    std::int64_t a = 1;
    std::int64_t b = 1;
    do {
      if (i < std::ssize(from) && (a <= b || j == std::ssize(to))) {
        a *= entry(from, i);
        group.from.push_back(i++);
      } else {
        b *= entry(to, j);
        group.to.push_back(j++);
      }
    } while (a != b);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace tfaot::toolkit::engine
