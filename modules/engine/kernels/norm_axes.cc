// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm_axes.h"

#include <algorithm>
#include <vector>

#include "kernels/row_values.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;

// A dimension of a broadcast, and how far a step along it goes in the operand.
struct SpreadStep {
  std::int64_t size, stride;
  bool operator==(const SpreadStep& other) const = default;
};

// Dimensions that go on as one are one.
std::vector<SpreadStep> joined_steps(const std::vector<SpreadStep>& steps) {
  std::vector<SpreadStep> joined;
  for (const SpreadStep& step : steps) {
    if (step.size == 1) continue;
    if (!joined.empty() && joined.back().stride == step.stride * step.size) {
      joined.back() = {joined.back().size * step.size, step.stride};
    } else {
      joined.push_back(step);
    }
  }
  return joined;
}

std::vector<SpreadStep> steps_of(const HloInstruction& broadcast) {
  const xla::Shape& from = broadcast.operand(0)->shape();
  const auto places = broadcast.dimensions();
  std::vector<SpreadStep> steps;
  for (std::int64_t d = 0; d < broadcast.shape().rank(); ++d) {
    const auto* const place = std::ranges::find(places, d);
    std::int64_t stride = 0;
    if (place != places.end()) {
      const auto after = static_cast<std::size_t>(place - places.begin()) + 1;
      stride = product(from.dimensions().subspan(after));
    }
    steps.push_back({broadcast.shape().dimensions(static_cast<int>(d)), stride});
  }
  return joined_steps(steps);
}

}  // namespace

std::int64_t NormAxes::elements(Kept kept) const {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < sizes_.size(); ++i) elements *= kept[i] ? sizes_[i] : 1;
  return elements;
}

NormAxes::Kept NormAxes::without_single(Kept kept) const {
  for (std::size_t i = 0; i < sizes_.size(); ++i) kept[i] = kept[i] && sizes_[i] > 1;
  return kept;
}

std::optional<NormAxes::Kept> NormAxes::spread(const HloInstruction& broadcast, Kept from) const {
  if (broadcast.opcode() != xla::HloOpcode::kBroadcast) return {};
  const std::vector<SpreadStep> steps = steps_of(broadcast);
  for (unsigned long bits = 0; bits <= all().to_ulong(); ++bits) {
    const Kept to(bits);
    if (without_single(to) != to || (from & to) != from || elements(to) != elements_of(broadcast)) {
      continue;
    }
    std::vector<SpreadStep> wanted;
    std::int64_t stride = 1;
    for (std::size_t i = sizes_.size(); i-- > 0;) {
      if (to[i]) wanted.push_back({sizes_[i], from[i] ? stride : 0});
      if (from[i]) stride *= sizes_[i];
    }
    std::ranges::reverse(wanted);
    if (joined_steps(wanted) == steps) return to;
  }
  return {};
}

std::optional<NormSum> norm_sum(HloInstruction& reduce) {
  if (!is_plain_reduction(reduce, xla::HloOpcode::kAdd)) return {};
  std::array<std::int64_t, 4> sizes = {1, 1, 1, 1};
  std::size_t at = NormAxes::kImages;
  const auto dimensions = reduce.operand(0)->shape().dimensions();
  for (std::int64_t d = 0; d < std::ssize(dimensions); ++d) {
    const std::int64_t size = dimensions[static_cast<std::size_t>(d)];
    if (size == 1) continue;
    const bool is_reduced = std::ranges::count(reduce.dimensions(), d) > 0;
    // Points and channels are reduced.
    if ((at % 2 != 0) != is_reduced) ++at;
    if (at >= sizes.size()) return {};
    sizes[at] *= size;
  }
  // What is reduced at the end are channels.
  if (at == NormAxes::kPoints) std::swap(sizes[NormAxes::kPoints], sizes[NormAxes::kChannels]);
  return NormSum{reduce.mutable_operand(0), NormAxes(sizes)};
}

}  // namespace tfaot::toolkit::engine
