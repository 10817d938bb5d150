// SPDX-License-Identifier: Apache-2.0
#include "lowering/weight_rule.h"

#include <algorithm>

namespace tfaot::toolkit::engine {
namespace {

constexpr std::int64_t kFewestNumbers = 16;
constexpr std::int64_t kFewestPlaces = 4096;

bool holds_places(DType type) {
  return !is_real(type) && type != DType::kInt8 && type != DType::kUint8;
}

}  // namespace

bool is_weight_constant(std::optional<DType> type, absl::Span<const std::int64_t> sizes) {
  if (!type || sizes.empty()) return false;
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size <= 0) return false;
    elements = std::min(elements, kFewestPlaces) * std::min(size, kFewestPlaces);
  }
  return elements >= (holds_places(*type) ? kFewestPlaces : kFewestNumbers);
}

bool is_place_constant(std::optional<DType> type, absl::Span<const std::int64_t> sizes) {
  return type && holds_places(*type) && !is_weight_constant(type, sizes);
}

}  // namespace tfaot::toolkit::engine
