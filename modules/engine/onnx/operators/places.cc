// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/places.h"

#include <numeric>

#include "onnx/operators/broadcast.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// More slices than these cost more than a gather.
constexpr std::size_t kMostSlices = 8;

// Places that follow each other by one step: 1, -1, or 0 for one place again and again.
struct PlaceRun {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 1;
};

std::vector<PlaceRun> runs_of(const std::vector<std::int64_t>& places) {
  std::vector<PlaceRun> runs;
  for (const std::int64_t place : places) {
    if (!runs.empty()) {
      PlaceRun& run = runs.back();
      const std::int64_t step = place - (run.first + run.step * (run.count - 1));
      if (run.count == 1 && step >= -1 && step <= 1) run.step = step;
      if (step == run.step) {
        ++run.count;
        continue;
      }
    }
    runs.push_back({.first = place});
  }
  return runs;
}

XlaOp take_run(const Node& node, XlaOp x, std::int64_t axis, const PlaceRun& run) {
  const std::int64_t last = run.first + run.step * (run.count - 1);
  const std::int64_t low = std::min(run.first, last);
  const std::int64_t high = std::max(run.first, last);
  XlaOp part = xla::SliceInDim(x, low, high + 1, 1, axis);
  if (run.step < 0 && run.count > 1) part = xla::Rev(part, {axis});
  if (run.step != 0) return part;
  Dimensions sizes = node.sizes_of(x);
  size_at(sizes, axis) = run.count;
  return broadcast_to(node, part, sizes);
}

}  // namespace

Dimensions dimension_range(std::int64_t first, std::int64_t end) {
  Dimensions range(static_cast<std::size_t>(std::max<std::int64_t>(0, end - first)));
  std::iota(range.begin(), range.end(), first);
  return range;
}

XlaOp zeros_of(const Node& node, xla::PrimitiveType type, const Dimensions& sizes) {
  node.check_sizes(sizes);
  return xla::Broadcast(xla::Zero(&node.builder(), type), sizes);
}

XlaOp index_along(const Node& node, xla::PrimitiveType type, const Dimensions& sizes,
                  std::int64_t axis) {
  node.check_sizes(sizes);
  return xla::Iota(&node.builder(), shape_of(type, sizes), axis);
}

XlaOp counted_from_start(const Node& node, XlaOp indices, std::int64_t size) {
  if (is_unsigned(node.type_of(indices))) return indices;
  const XlaOp negative = xla::Lt(indices, scalar_like(node, indices, 0));
  const XlaOp from_end =
      xla::Add(indices, xla::ConstantR0WithType(&node.builder(), node.type_of(indices), size));
  return xla::Select(negative, from_end, indices);
}

XlaOp take_places(const Node& node, XlaOp x, std::int64_t axis,
                  const std::vector<std::int64_t>& places) {
  const Dimensions sizes = node.sizes_of(x);
  const std::int64_t size = size_at(sizes, axis);
  if (places.empty()) return xla::SliceInDim(x, 0, 0, 1, axis);
  for (const std::int64_t place : places) {
    if (place < 0 || place >= size) node.refuse("reads an element that its operand does not have");
  }
  const std::vector<PlaceRun> runs = runs_of(places);
  if (runs.size() <= kMostSlices) {
    std::vector<XlaOp> parts;
    for (const PlaceRun& run : runs) parts.push_back(take_run(node, x, axis, run));
    return parts.size() == 1 ? parts.front() : xla::ConcatInDim(&node.builder(), parts, axis);
  }
  xla::GatherDimensionNumbers numbers;
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    if (i != axis) numbers.add_offset_dims(i);
  }
  numbers.add_collapsed_slice_dims(axis);
  numbers.add_start_index_map(axis);
  numbers.set_index_vector_dim(1);
  Dimensions slice = sizes;
  size_at(slice, axis) = 1;
  return xla::Gather(x, constant_integers(node, places), numbers, slice);
}

}  // namespace tfaot::toolkit::engine
