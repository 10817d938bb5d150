// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/sampling.h"

#include <array>
#include <optional>

#include "onnx/operators/broadcast.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// Between which places a dimension is reflected.
struct SampleRange {
  double begin = 0;
  double end = 0;
};
SampleRange sample_range(std::int64_t size, const SampleRules& rules) {
  const double margin = rules.reflects_at_centers ? 0 : 0.5;
  return {-margin, static_cast<double>(size - 1) + margin};
}

XlaOp reflected(const Node& node, XlaOp place, SampleRange range) {
  const auto number = [&](double value) { return scalar_like(node, place, value); };
  const double length = range.end - range.begin;
  if (length <= 0) return xla::FullLike(place, range.begin);
  const XlaOp is_below = xla::Lt(place, number(range.begin));
  const XlaOp beyond = xla::Select(is_below, xla::Sub(number(range.begin), place),
                                   xla::Sub(place, number(range.end)));
  const XlaOp times = xla::Floor(xla::Div(beyond, number(length)));
  const XlaOp rest = xla::Sub(beyond, xla::Mul(times, number(length)));
  const XlaOp is_even = xla::Eq(xla::Rem(times, number(2)), number(0));
  const XlaOp from_begin = xla::Eq(is_even, is_below);
  return xla::Select(from_begin, xla::Add(number(range.begin), rest),
                     xla::Sub(number(range.end), rest));
}

// What lies outside, moved inside as the padding wants.
XlaOp moved_inside(const Node& node, XlaOp place, std::int64_t size, const SampleRules& rules) {
  if (rules.padding == SamplePadding::kZeros) return place;
  const SampleRange range = sample_range(size, rules);
  const auto number = [&](double value) { return scalar_like(node, place, value); };
  const XlaOp is_outside =
      xla::Or(xla::Lt(place, number(range.begin)), xla::Gt(place, number(range.end)));
  const XlaOp inside = rules.padding == SamplePadding::kBorder
                           ? xla::Clamp(number(0), place, number(static_cast<double>(size - 1)))
                           : reflected(node, place, range);
  return xla::Select(is_outside, inside, place);
}

// The standard leaves it open whether the place is moved to the border, or each element that a
// cubic kernel sees. PyTorch and ONNX Runtime move the elements, its reference implementation the
// place.
bool moves_elements_alone(const SampleRules& rules) {
  return rules.kernel == SampleKernel::kCubic && rules.padding == SamplePadding::kBorder;
}

// An element that is looked at, and its weight.
struct SampleTap {
  XlaOp place;  // real, whole
  XlaOp weight;
};

// Keys' cubic convolution with a = -0.75; x is the distance to the element.
XlaOp cubic_weight(const Node& node, XlaOp x, bool is_near) {
  constexpr double kA = -0.75;
  const auto number = [&](double value) { return scalar_like(node, x, value); };
  const auto times_plus = [&](XlaOp sum, double more) {
    return xla::Add(xla::Mul(sum, x), number(more));
  };
  if (is_near) {
    const XlaOp inner = xla::Sub(xla::Mul(number(kA + 2), x), number(kA + 3));
    return xla::Add(xla::Mul(xla::Mul(inner, x), x), number(1));
  }
  return times_plus(times_plus(xla::Sub(xla::Mul(number(kA), x), number(5 * kA)), 8 * kA), -4 * kA);
}

std::vector<SampleTap> taps_of(const Node& node, XlaOp place, SampleKernel kernel) {
  if (kernel == SampleKernel::kNearest) return {{place, xla::FullLike(place, 1)}};
  const XlaOp left = xla::Floor(place);
  const XlaOp part = xla::Sub(place, left);
  const auto number = [&](double value) { return scalar_like(node, place, value); };
  const auto right_by = [&](double steps) { return xla::Add(left, number(steps)); };
  if (kernel == SampleKernel::kLinear) {
    return {{left, xla::Sub(number(1), part)}, {right_by(1), part}};
  }
  return {{right_by(-1), cubic_weight(node, xla::Add(part, number(1)), false)},
          {left, cubic_weight(node, part, true)},
          {right_by(1), cubic_weight(node, xla::Sub(number(1), part), true)},
          {right_by(2), cubic_weight(node, xla::Sub(number(2), part), false)}};
}

class Sampler {
 public:
  Sampler(const Node& node, XlaOp images, const SamplePlaces& places, const SampleRules& rules)
      : node_(node),
        images_(images),
        sizes_(node.sizes_of(images)),
        places_(places),
        rules_(rules) {
    for (std::size_t d = 0; d < places.spatial.size(); ++d) {
      XlaOp place = places.spatial[d];
      if (rules.kernel == SampleKernel::kNearest) place = xla::RoundToEven(place);
      if (!moves_elements_alone(rules)) place = moved_inside(node, place, size(d), rules);
      taps_.push_back(taps_of(node, place, rules.kernel));
    }
  }

  XlaOp run() {
    visit(0, {}, std::nullopt);
    return *sum_;
  }

 private:
  std::int64_t size(std::size_t d) const { return sizes_[d + 1]; }

  // All combinations of one tap of each dimension.
  void visit(std::size_t d, const std::vector<XlaOp>& places, std::optional<XlaOp> weight) {
    if (d == taps_.size()) return add_element(places, *weight);
    for (const SampleTap& tap : taps_[d]) {
      std::vector<XlaOp> more = places;
      more.push_back(tap.place);
      visit(d + 1, more, weight ? xla::Mul(*weight, tap.weight) : tap.weight);
    }
  }

  void add_element(const std::vector<XlaOp>& places, XlaOp weight) {
    SamplePlaces whole{places_.image, {}};
    std::optional<XlaOp> is_inside;
    for (std::size_t d = 0; d < places.size(); ++d) {
      const XlaOp place = moved_inside(node_, places[d], size(d), rules_);
      const XlaOp least = scalar_like(node_, place, 0);
      const XlaOp most = scalar_like(node_, place, static_cast<double>(size(d) - 1));
      const XlaOp own = xla::And(xla::Ge(place, least), xla::Le(place, most));
      is_inside = is_inside ? xla::And(*is_inside, own) : own;
      whole.spatial.push_back(xla::ConvertElementType(xla::Clamp(least, place, most), xla::S32));
    }
    XlaOp values = elements_at(node_, images_, whole);
    const Dimensions sizes = node_.sizes_of(values);
    const auto by_point = [&](XlaOp op) { return xla::BroadcastInDim(op, sizes, {0, 1}); };
    if (rules_.padding == SamplePadding::kZeros) {
      values = xla::Select(by_point(*is_inside), values, xla::ZerosLike(values));
    }
    if (rules_.kernel != SampleKernel::kNearest) {
      values = xla::Mul(values, by_point(xla::ConvertElementType(weight, node_.type_of(values))));
    }
    sum_ = sum_ ? xla::Add(*sum_, values) : values;
  }

  const Node& node_;
  XlaOp images_;
  Dimensions sizes_;
  const SamplePlaces& places_;
  SampleRules rules_;
  std::vector<std::vector<SampleTap>> taps_;  // by spatial dimension
  std::optional<XlaOp> sum_;
};

}  // namespace

XlaOp sample(const Node& node, XlaOp images, const SamplePlaces& places, const SampleRules& rules) {
  return Sampler(node, images, places, rules).run();
}

XlaOp elements_at(const Node& node, XlaOp images, const SamplePlaces& places) {
  Dimensions slice = node.sizes_of(images);
  std::vector<XlaOp> parts = {places.image};
  parts.insert(parts.end(), places.spatial.begin(), places.spatial.end());
  Dimensions sizes = node.sizes_of(places.image);
  sizes.push_back(1);
  xla::GatherDimensionNumbers numbers;
  numbers.set_index_vector_dim(2);
  numbers.add_offset_dims(2);
  for (std::size_t d = 0; d < parts.size(); ++d) {
    parts[d] = xla::Reshape(parts[d], sizes);
    slice[d] = 1;
    numbers.add_collapsed_slice_dims(static_cast<std::int64_t>(d));
    numbers.add_start_index_map(static_cast<std::int64_t>(d));
  }
  return xla::Gather(images, xla::ConcatInDim(&node.builder(), parts, 2), numbers, slice);
}

}  // namespace tfaot::toolkit::engine
