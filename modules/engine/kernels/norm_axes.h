// SPDX-License-Identifier: Apache-2.0
// The elements that a normalisation treats together. Each tensor of it is seen as [images, points,
// groups, channels] or as some of these axes, in this order; a mean is that of the points and
// channels of each image and group. A layer norm has one point and one group. Used by one thread.
#pragma once

#include <array>
#include <bitset>
#include <optional>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

class NormAxes {
 public:
  enum Axis { kImages, kPoints, kGroups, kChannels };
  using Kept = std::bitset<4>;  // the axes that a tensor has

  explicit NormAxes(const std::array<std::int64_t, 4>& sizes) : sizes_(sizes) {}

  std::int64_t size(Axis axis) const { return sizes_[axis]; }
  std::int64_t elements(Kept kept) const;
  // Of a mean.
  std::int64_t count() const { return size(kPoints) * size(kChannels); }

  // Axes of one place count for nothing.
  Kept all() const { return without_single({0b1111}); }
  Kept statistics() const { return without_single({0b0101}); }
  Kept columns() const { return without_single({0b1100}); }
  Kept groups() const { return without_single({0b0100}); }

  // The axes that a broadcast of a tensor with the axes `from` has; nothing: it spreads in another
  // way.
  std::optional<Kept> spread(const xla::HloInstruction& broadcast, Kept from) const;

  bool operator==(const NormAxes& other) const = default;

 private:
  Kept without_single(Kept kept) const;

  std::array<std::int64_t, 4> sizes_;
};

// A sum over points and channels.
struct NormSum {
  xla::HloInstruction* of;
  NormAxes axes;
};
std::optional<NormSum> norm_sum(xla::HloInstruction& reduce);

}  // namespace tfaot::toolkit::engine
