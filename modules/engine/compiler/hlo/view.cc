// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/view.h"

#include <algorithm>

#include "compiler/hlo/build.h"

namespace tfaot::toolkit::engine {
namespace {

// Of a tensor of these sizes.
Strides dense_strides(absl::Span<const std::int64_t> sizes) {
  Strides strides;
  std::int64_t step = product(sizes);
  for (const std::int64_t size : sizes)
    strides.push_back({size, step /= std::max<std::int64_t>(1, size)});
  return strides;
}

// Dimension i of `shape` is at places[i] of these sizes, and spread along all others.
Strides spread_strides(absl::Span<const std::int64_t> sizes, const xla::Shape& shape,
                       absl::Span<const std::int64_t> places) {
  Strides strides;
  for (const std::int64_t size : sizes) strides.push_back({size, 0});
  for (std::int64_t i = 0; i < shape.rank(); ++i) {
    entry(strides, entry(places, i)).step = stride_along(shape, i);
  }
  return strides;
}

// A view of the elements of `inner`, which takes them for memory, in the memory of `inner`. Nothing
// if steps leave a dimension there.
std::optional<View> composed(const View& outer, const View& inner) {
  const Strides whole = dense_strides(inner.sizes()), dimensions = merged(inner.strides);
  View made{inner.tensor, {}, inner.offset};
  Dimensions places, last;  // of each dimension: its step in `outer`, the last index that is read
  std::int64_t place = elements_of(dimensions), rest = outer.offset;
  if (place == 0) return View{inner.tensor, outer.strides};  // nothing is read
  for (const Stride& one : dimensions) {
    place /= one.size;
    places.push_back(place);
    last.push_back(rest / place);
    made.offset += last.back() * one.step;
    rest %= place;
  }
  for (const Stride& one : outer.strides) {
    Stride& stride = made.strides.emplace_back(Stride{one.size, 0});
    const auto same = one.size == 1 ? std::ranges::find(whole, one) : whole.end();
    if (same != whole.end()) {
      stride.step = entry(inner.strides, same - whole.begin()).step;
    } else if (one.step != 0 && !places.empty()) {
      const auto d =
          std::ranges::find_if(places, [&](auto its) { return its <= one.step; }) - places.begin();
      const std::int64_t count = one.step / entry(places, d);
      entry(last, d) += (one.size - 1) * count;
      const bool stays =
          one.step % entry(places, d) == 0 && entry(last, d) < entry(dimensions, d).size;
      if (one.size > 1 && !stays) return {};
      stride.step = count * entry(dimensions, d).step;
    }
  }
  return made;
}

}  // namespace

Strides merged(absl::Span<const Stride> strides) {
  Strides made;
  for (const Stride& one : strides) {
    if (one.size == 1) continue;
    if (!made.empty() && made.back().step == one.step * one.size) {
      made.back() = {made.back().size * one.size, one.step};
    } else {
      made.push_back(one);
    }
  }
  return made;
}

std::optional<std::int64_t> step_of(absl::Span<const Stride> strides) {
  const Strides one = merged(strides);
  if (one.size() > 1) return {};
  return one.empty() ? 0 : one.front().step;
}

std::int64_t elements_of(absl::Span<const Stride> strides) {
  std::int64_t elements = 1;
  for (const Stride& one : strides) elements *= one.size;
  return elements;
}

Strides picked(const Strides& strides, absl::Span<const std::int64_t> dimensions) {
  Strides made;
  for (const std::int64_t d : dimensions) made.push_back(entry(strides, d));
  return made;
}

Dimensions View::sizes() const {
  Dimensions sizes;
  for (const Stride& one : strides) sizes.push_back(one.size);
  return sizes;
}

std::optional<View> View::before() const {
  const auto inner = view_of_operand(*tensor);
  return inner ? composed(*this, *inner) : std::nullopt;
}

std::optional<View> View::reshaped(absl::Span<const std::int64_t> wanted) const {
  return wanted == sizes() ? *this : composed({nullptr, dense_strides(wanted)}, *this);
}

View view_of(HloInstruction* tensor) {
  return {tensor, dense_strides(tensor->shape().dimensions())};
}

std::optional<View> view_of_operand(const HloInstruction& one) {
  switch (one.opcode()) {
    case kReshape:
    case kBitcast:
      return View{one.operands()[0], dense_strides(one.shape().dimensions())};
    case kTranspose: {
      const View view = view_of(one.operands()[0]);
      return View{view.tensor, picked(view.strides, one.dimensions())};
    }
    case kBroadcast:
      return View{one.operands()[0], spread_strides(one.shape().dimensions(),
                                                    one.operand(0)->shape(), one.dimensions())};
    case kSlice: {
      View view = view_of(one.operands()[0]);
      for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
        Stride& stride = entry(view.strides, d);
        view.offset += one.slice_starts(d) * stride.step;
        stride = {size_of(one, d), stride.step * one.slice_strides(d)};
      }
      return view;
    }
    default:
      return {};
  }
}

HloInstruction* copied(const View& view) {
  const Dimensions sizes = view.sizes();
  Dimensions kept, order;
  for (std::int64_t d = 0; d < std::ssize(sizes); ++d) {
    if (entry(view.strides, d).step != 0) kept.push_back(d);
  }
  // As they lie in memory: there, a dimension of one element follows that with its step.
  Dimensions lying = kept;
  std::ranges::stable_sort(lying, std::ranges::greater(), [&](std::int64_t d) {
    return std::pair(entry(view.strides, d).step, entry(view.strides, d).size);
  });
  for (const std::int64_t d : kept) order.push_back(place_among(lying, d));
  HloInstruction* const made = transpose(reshape(view.tensor, picked(sizes, lying)), order);
  return kept.size() == sizes.size() ? made : broadcast(made, sizes, kept);
}

Strides strides_of(const HloInstruction& broadcast) {
  return merged(view_of_operand(broadcast)->strides);
}

Strides strides_over_terms(const HloInstruction& sum) {
  const auto terms = sum.operand(0)->shape().dimensions();
  return merged(
      spread_strides(terms, sum.shape(), other_dimensions(std::ssize(terms), sum.dimensions())));
}

HloInstruction* spread_operand(HloInstruction& value, const Strides& strides) {
  const bool is_same = value.opcode() == kBroadcast && strides_of(value) == merged(strides);
  return is_same ? value.mutable_operand(0) : nullptr;
}

}  // namespace tfaot::toolkit::engine
