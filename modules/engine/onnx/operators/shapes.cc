// SPDX-License-Identifier: Apache-2.0
// Operators that move or make elements without computing with them: shapes, constants, joins, cuts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "tfaot/base/limits.h"
#include "xla/client/lib/constants.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

void lower_identity(Node& node) { node.set(node.operand(0)); }

// A Dropout of a net that is not trained passes everything.
void lower_dropout(Node& node) {
  if (node.opset() < 7 && node.integer("is_test", 0) == 0) node.refuse("draws random numbers");
  if (node.has(2)) {
    const auto training = node.known_integers(2);
    if (!training.empty() && training.front() != 0) node.refuse("draws random numbers");
  }
  node.set(0, node.operand(0));
  if (!node.wants(1)) return;
  const auto mask = xla::ConstantR0<bool>(&node.builder(), true);
  node.set(1, xla::Broadcast(mask, node.sizes(0)));
}

// All that a Constant can hold but strings. A sparse tensor was made dense when the model was read.
void lower_constant(Node& node) {
  xla::XlaBuilder& builder = node.builder();
  if (const auto value = node.tensor("value")) {
    return node.set(xla::ConstantLiteral(&builder, *value));
  }
  if (node.has_attribute("value_float")) {
    return node.set(xla::ConstantR0<float>(&builder, node.real("value_float", 0)));
  }
  if (node.has_attribute("value_floats")) {
    return node.set(xla::ConstantR1<float>(&builder, node.reals("value_floats")));
  }
  if (node.has_attribute("value_int")) {
    return node.set(xla::ConstantR0<std::int64_t>(&builder, node.integer("value_int")));
  }
  if (const auto values = node.integers("value_ints")) {
    return node.set(xla::ConstantR1<std::int64_t>(&builder, *values));
  }
  node.refuse("holds strings, which cannot be compiled");
}

void lower_constant_of_shape(Node& node) {
  auto value = node.tensor("value");
  if (!value) value = xla::LiteralUtil::CreateR1<float>({0});
  if (value->element_count() != 1) node.refuse("needs one element as its value");
  const XlaOp element =
      xla::Reshape(xla::ConstantLiteral(&node.builder(), *value), absl::Span<const std::int64_t>());
  node.set(xla::Broadcast(element, node.known_sizes(0)));
}

void lower_shape(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto rank = std::ssize(sizes);
  const auto place = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = place(node.integer("start", 0));
  const std::int64_t end = std::max(start, place(node.integer("end", rank)));
  node.set(constant_integers(node, {sizes.begin() + start, sizes.begin() + end}));
}

void lower_size(Node& node) {
  node.set(xla::ConstantR0<std::int64_t>(&node.builder(), product(node.sizes(0))));
}

// 0 is the operand's own size, unless `allowzero`; -1 is what is left.
void lower_reshape(Node& node) {
  const Dimensions from = node.sizes(0);
  Dimensions to = node.known_integers(1);
  const bool zero_is_zero = node.integer("allowzero", 0) != 0;
  std::int64_t open = -1;
  for (std::int64_t i = 0; i < std::ssize(to); ++i) {
    std::int64_t& size = to[static_cast<std::size_t>(i)];
    if (size == -1) {
      if (open >= 0) node.refuse("has two dimensions of size -1");
      open = i;
      size = 1;
    } else if (size == 0 && !zero_is_zero) {
      if (i >= std::ssize(from))
        node.refuse("copies the size of a dimension that its operand lacks");
      size = from[static_cast<std::size_t>(i)];
    }
  }
  const std::int64_t elements = product(from);
  if (open >= 0) {
    const std::int64_t others = product(to);
    if (others == 0 || elements % others != 0) {
      node.refuse(fmt::format("cannot reshape {} elements", elements));
    }
    to[static_cast<std::size_t>(open)] = elements / others;
  }
  node.set(xla::Reshape(node.operand(0), to));
}

void lower_flatten(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto rank = std::ssize(sizes);
  std::int64_t axis = node.integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) node.refuse("has an axis that its operand lacks");
  const absl::Span<const std::int64_t> all(sizes);
  const auto split = static_cast<std::size_t>(axis);
  node.set(
      xla::Reshape(node.operand(0), {product(all.subspan(0, split)), product(all.subspan(split))}));
}

void lower_transpose(Node& node) {
  Dimensions order(static_cast<std::size_t>(node.rank(0)));
  std::iota(order.rbegin(), order.rend(), 0);
  node.set(xla::Transpose(node.operand(0), node.integers("perm").value_or(order)));
}

// An operand since opset 13; an attribute before.
std::optional<std::vector<std::int64_t>> squeezed_axes(const Node& node) {
  if (node.opset() < 13) return node.integers("axes");
  if (!node.has(1)) return std::nullopt;
  return node.known_integers(1);
}

void lower_squeeze(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto rank = std::ssize(sizes);
  const auto given = squeezed_axes(node);
  const auto axes = given ? node.axes(*given, rank) : std::vector<std::int64_t>();
  Dimensions kept;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t size = sizes[static_cast<std::size_t>(i)];
    const bool goes = given ? std::ranges::count(axes, i) > 0 : size == 1;
    if (!goes) kept.push_back(size);
    if (goes && size != 1) node.refuse(fmt::format("squeezes a dimension of size {}", size));
  }
  node.set(xla::Reshape(node.operand(0), kept));
}

void lower_unsqueeze(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto given = squeezed_axes(node);
  if (!given) node.refuse("has no axes");
  const auto rank = std::ssize(sizes) + std::ssize(*given);
  const auto axes = node.axes(*given, rank);
  Dimensions made;
  auto next = sizes.begin();
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool is_new = std::ranges::count(axes, i) > 0 || next == sizes.end();
    made.push_back(is_new ? 1 : *next++);
  }
  node.set(xla::Reshape(node.operand(0), made));
}

// Broadcasts both ways: a size of 1 keeps the operand's.
void lower_expand(Node& node) {
  const Dimensions sizes = common_sizes(node, {node.sizes(0), node.known_sizes(1)});
  node.set(broadcast_to(node, node.operand(0), sizes));
}

void lower_concat(Node& node) {
  const std::int64_t axis = node.axis(node.integer("axis"), node.rank(0));
  node.set(xla::ConcatInDim(&node.builder(), node.operands(), axis));
}

// Equal parts, the last one smaller, if no sizes are given.
Dimensions split_sizes(const Node& node, std::int64_t size) {
  if (node.opset() < 13) {
    if (auto sizes = node.integers("split")) return *sizes;
  } else if (node.has(1)) {
    return node.known_integers(1);
  }
  const std::int64_t parts = node.integer("num_outputs", node.result_count());
  const std::int64_t part = (size + parts - 1) / parts;
  Dimensions sizes;
  for (std::int64_t i = 0; i < parts; ++i) {
    sizes.push_back(std::clamp<std::int64_t>(size - i * part, 0, part));
  }
  return sizes;
}

void lower_split(Node& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const std::int64_t size = node.sizes(0)[static_cast<std::size_t>(axis)];
  const Dimensions sizes = split_sizes(node, size);
  if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != size) {
    node.refuse(fmt::format("splits a dimension of size {} into parts of other sizes", size));
  }
  std::int64_t start = 0;
  for (int i = 0; i < node.result_count() && i < std::ssize(sizes); ++i) {
    const std::int64_t end = start + sizes[static_cast<std::size_t>(i)];
    node.set(i, xla::SliceInDim(node.operand(0), start, end, 1, axis));
    start = end;
  }
}

struct SliceRange {
  std::int64_t axis = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};

// Attributes up to opset 9, then operands.
std::vector<SliceRange> slice_ranges(const Node& node, std::int64_t rank) {
  const bool old = node.opset() < 10;
  const auto given = [&](const char* attribute, int operand) {
    if (old) return node.integers(attribute).value_or(std::vector<std::int64_t>());
    return node.has(operand) ? node.known_integers(operand) : std::vector<std::int64_t>();
  };
  const auto starts = given("starts", 1);
  const auto ends = given("ends", 2);
  auto axes = given("axes", 3);
  const auto steps = old ? std::vector<std::int64_t>() : given("steps", 4);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (starts.size() != ends.size() || starts.size() != axes.size() ||
      (!steps.empty() && steps.size() != starts.size())) {
    node.refuse("has starts, ends, axes and steps of different lengths");
  }
  std::vector<SliceRange> ranges;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    ranges.push_back({node.axis(axes[i], rank), starts[i], ends[i], steps.empty() ? 1 : steps[i]});
  }
  return ranges;
}

// One dimension, as Python cuts it.
XlaOp slice(const Node& node, XlaOp x, const SliceRange& range) {
  const std::int64_t size = node.sizes_of(x)[static_cast<std::size_t>(range.axis)];
  if (range.step == 0) node.refuse("has a step of 0");
  const bool back = range.step < 0;
  const auto place = [&](std::int64_t at) {
    const std::int64_t counted = at < 0 && at >= -size ? at + size : at;
    return std::clamp<std::int64_t>(counted, back ? -1 : 0, back ? size - 1 : size);
  };
  // A negative place below -size is before the first element.
  const std::int64_t start = place(range.start);
  const std::int64_t end = place(range.end);
  if (!back) return xla::SliceInDim(x, start, std::max(start, end), range.step, range.axis);
  const XlaOp reversed = xla::Rev(x, {range.axis});
  const std::int64_t first = size - 1 - start;
  const std::int64_t last = size - 1 - end;
  const std::int64_t step = range.step == std::numeric_limits<std::int64_t>::min()
                                ? std::numeric_limits<std::int64_t>::max()
                                : -range.step;
  return xla::SliceInDim(reversed, first, std::max(first, last), step, range.axis);
}

void lower_slice(Node& node) {
  XlaOp x = node.operand(0);
  for (const SliceRange& range : slice_ranges(node, node.rank(0))) x = slice(node, x, range);
  node.set(x);
}

void lower_tile(Node& node) {
  XlaOp x = node.operand(0);
  const auto repeats = node.known_integers(1);
  if (std::ssize(repeats) != node.rank(0))
    node.refuse("needs a number of repeats for each dimension");
  // [a, b] becomes [r, a, s, b], then [r*a, s*b].
  const Dimensions from = node.sizes(0);
  Dimensions spread;
  Dimensions places;
  Dimensions to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (repeats[i] < 0) node.refuse("repeats a dimension less than never");
    spread.push_back(repeats[i]);
    places.push_back(std::ssize(spread));
    spread.push_back(from[i]);
  }
  node.check_sizes(spread);
  for (std::size_t i = 0; i < from.size(); ++i) to.push_back(repeats[i] * from[i]);
  node.set(xla::Reshape(xla::BroadcastInDim(x, spread, places), to));
}

void lower_range(Node& node) {
  const auto type = node.type(0);
  const double start = node.known_real(0);
  const double limit = node.known_real(1);
  const double step = node.known_real(2);
  if (step == 0) node.refuse("has a step of 0");
  const double numbers = std::ceil((limit - start) / step);
  if (!(numbers <= static_cast<double>(kMostTensorElements))) {
    node.refuse(fmt::format("makes {} numbers", numbers));
  }
  const auto count = static_cast<std::int64_t>(std::max(0.0, numbers));
  const XlaOp index = xla::Iota(&node.builder(), type, count);
  const Dimensions sizes = {count};
  const XlaOp first = broadcast_to(node, xla::Reshape(node.operand(0), {}), sizes);
  const XlaOp steps = broadcast_to(node, xla::Reshape(node.operand(2), {}), sizes);
  node.set(xla::Add(first, xla::Mul(index, steps)));
}

}  // namespace

std::vector<OnnxOperator> shape_operators() {
  return {
      {"Concat", 4, lower_concat},
      {"Constant", 1, lower_constant},
      {"ConstantOfShape", 9, lower_constant_of_shape, {0}},
      {"Dropout", 6, lower_dropout, {2}},
      {"Expand", 8, lower_expand, {1}},
      {"Flatten", 1, lower_flatten},
      {"Identity", 1, lower_identity},
      {"Range", 11, lower_range, {0, 1, 2}},
      {"Reshape", 5, lower_reshape, {1}},
      {"Shape", 1, lower_shape},
      {"Size", 1, lower_size},
      {"Slice", 1, lower_slice, {1, 2, 3, 4}},
      {"Split", 2, lower_split, {1}},
      {"Squeeze", 1, lower_squeeze, {1}},
      {"Tile", 6, lower_tile, {1}},
      {"Transpose", 1, lower_transpose},
      {"Unsqueeze", 1, lower_unsqueeze, {1}},
  };
}

}  // namespace tfaot::toolkit::engine
