// SPDX-License-Identifier: Apache-2.0
// Operators that find elements: the largest ones, those that are not zero, those that differ.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/places.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

void lower_one_hot(Node& node) {
  const std::int64_t depth = node.known_integer(1);
  const Dimensions sizes = node.sizes(0);
  const std::int64_t axis = node.axis(node.integer("axis", -1), std::ssize(sizes) + 1);
  Dimensions result = sizes;
  result.insert(result.begin() + axis, depth);
  node.check_sizes(result);
  Dimensions kept = dimension_range(0, std::ssize(result));
  kept.erase(kept.begin() + axis);
  const XlaOp indices =
      counted_from_start(node, xla::ConvertElementType(node.operand(0), xla::S64), depth);
  const XlaOp is_hot = xla::Eq(xla::BroadcastInDim(indices, result, kept),
                               index_along(node, xla::S64, result, axis));
  const auto value = [&](std::int64_t which) {
    const XlaOp one = xla::SliceInDim(node.operand(2), which, which + 1, 1, 0);
    return broadcast_to(node, xla::Reshape(one, {}), result);
  };
  node.set(xla::Select(is_hot, value(1), value(0)));
}

// Before b when the largest, or the smallest, come first. NaN counts as larger than all numbers.
xla::XlaComputation rank_comparator(const Node& node, xla::PrimitiveType type, bool largest) {
  const auto builder = node.builder().CreateSubBuilder("before");
  const auto parameter = [&](std::int64_t number, xla::PrimitiveType of) {
    return xla::Parameter(builder.get(), number, shape_of(of, {}), fmt::format("p{}", number));
  };
  const XlaOp a = parameter(0, type);
  const XlaOp b = parameter(1, type);
  parameter(2, xla::S32);
  parameter(3, xla::S32);
  XlaOp before = largest ? xla::Gt(a, b) : xla::Lt(a, b);
  if (is_real(type)) {
    const XlaOp first = largest ? a : b;
    const XlaOp second = largest ? b : a;
    before = xla::Or(before, xla::And(xla::Ne(first, first), xla::Eq(second, second)));
  }
  auto built = builder->Build(before);
  if (!built.ok()) node.refuse("cannot be compiled: " + std::string(built.status().message()));
  return *std::move(built);
}

// The place of the largest or smallest element, the first one of equals.
XlaOp extreme_place(const Node& node, XlaOp x, std::int64_t axis, bool largest) {
  if (size_at(node.sizes_of(x), axis) == 0)
    node.refuse("looks for an element where there are none");
  return xla::ArgMinMax(x, xla::S32, static_cast<int>(axis), !largest);
}

// One operation instead of a sort.
void set_top_one(Node& node, std::int64_t axis, bool largest) {
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  xla::XlaBuilder* const builder = &node.builder();
  Dimensions one = node.sizes(0);
  size_at(one, axis) = 1;
  const XlaOp found = largest ? xla::Reduce(x, xla::MinValue(builder, type),
                                            xla::CreateScalarMaxComputation(type, builder), {axis})
                              : xla::Reduce(x, xla::MaxValue(builder, type),
                                            xla::CreateScalarMinComputation(type, builder), {axis});
  node.set(0, xla::Reshape(found, one));
  if (!node.wants(1)) return;
  const XlaOp place = extreme_place(node, x, axis, largest);
  node.set(1, xla::Reshape(xla::ConvertElementType(place, xla::S64), one));
}

std::int64_t wanted_count(const Node& node) {
  if (node.opset() < 10) return node.integer("k");
  return node.known_integer(1);
}

void lower_top_k(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t axis = node.axis(node.integer("axis", -1), std::ssize(sizes));
  const std::int64_t count = wanted_count(node);
  if (count < 0 || count > size_at(sizes, axis)) {
    node.refuse(fmt::format("takes {} of {} elements", count, size_at(sizes, axis)));
  }
  const bool largest = node.integer("largest", 1) != 0;
  const auto type = node.type(0);
  // XLA's minimum does not order NaN as a sort does.
  if (count == 1 && (largest || !is_real(type))) return set_top_one(node, axis, largest);
  const XlaOp sorted = xla::Sort({node.operand(0), index_along(node, xla::S32, sizes, axis)},
                                 rank_comparator(node, type, largest), axis, /*is_stable=*/true);
  const auto first = [&](std::int64_t which) {
    return xla::SliceInDim(xla::GetTupleElement(sorted, which), 0, count, 1, axis);
  };
  node.set(0, first(0));
  node.set(1, xla::ConvertElementType(first(1), xla::S64));
}

template <bool kLargest>
void lower_arg_extreme(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t axis = node.axis(node.integer("axis", 0), std::ssize(sizes));
  const bool last = node.integer("select_last_index", 0) != 0;
  const XlaOp x = last ? xla::Rev(node.operand(0), {axis}) : node.operand(0);
  XlaOp place = xla::ConvertElementType(extreme_place(node, x, axis, kLargest), xla::S64);
  if (last) place = xla::Sub(xla::ScalarLike(place, size_at(sizes, axis) - 1), place);
  if (node.integer("keepdims", 1) != 0) {
    Dimensions one = sizes;
    size_at(one, axis) = 1;
    place = xla::Reshape(place, one);
  }
  node.set(place);
}

// Of each element that is true, its index along each dimension.
void lower_non_zero(Node& node) {
  const auto value = node.known(0).Convert(xla::F64);
  if (!value.ok()) node.refuse("needs numbers");
  const auto elements = value->data<double>();
  Dimensions sizes = node.sizes(0);
  if (sizes.empty()) sizes = {1};  // as numpy sees a scalar
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < std::ssize(elements); ++i) {
    if (elements[static_cast<std::size_t>(i)] != 0) found.push_back(i);
  }
  xla::Literal places(shape_of(xla::S64, {std::ssize(sizes), std::ssize(found)}));
  for (std::int64_t place = 0; place < std::ssize(found); ++place) {
    std::int64_t rest = found[static_cast<std::size_t>(place)];
    for (std::int64_t axis = std::ssize(sizes) - 1; axis >= 0; --axis) {
      places.Set<std::int64_t>({axis, place}, rest % size_at(sizes, axis));
      rest /= size_at(sizes, axis);
    }
  }
  node.set(xla::ConstantLiteral(&node.builder(), places));
}

// The operand, as one dimension if the node has no axis.
struct AlongAxis {
  XlaOp x;
  std::int64_t axis = 0;
};
AlongAxis along_axis(const Node& node) {
  const XlaOp x = node.operand(0);
  if (!node.has_attribute("axis")) return {xla::Reshape(x, {product(node.sizes(0))}), 0};
  return {x, node.axis(node.integer("axis"), node.rank(0))};
}

void lower_compress(Node& node) {
  const auto [x, axis] = along_axis(node);
  const auto condition = node.known_integers(1);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < std::ssize(condition); ++i) {
    if (condition[static_cast<std::size_t>(i)] != 0) places.push_back(i);
  }
  node.set(take_places(node, x, axis, places));
}

struct UniqueParts {
  std::vector<std::int64_t> first;    // where each of them occurs first
  std::vector<std::int64_t> inverse;  // for each part, which of them it is
  std::vector<std::int64_t> counts;
};

// `parts`: what is compared, in the order of the operand.
template <typename T>
UniqueParts unique_parts(const std::vector<std::vector<T>>& parts, bool sorted) {
  std::map<std::vector<T>, std::vector<std::int64_t>> where;
  for (std::int64_t i = 0; i < std::ssize(parts); ++i) {
    where[parts[static_cast<std::size_t>(i)]].push_back(i);
  }
  std::vector<const std::vector<std::int64_t>*> groups;
  for (const auto& [part, places] : where) groups.push_back(&places);
  if (!sorted) std::ranges::sort(groups, {}, [](const auto* places) { return places->front(); });
  UniqueParts unique;
  unique.inverse.resize(parts.size());
  for (const auto* const places : groups) {
    for (const std::int64_t place : *places) {
      unique.inverse[static_cast<std::size_t>(place)] = std::ssize(unique.first);
    }
    unique.first.push_back(places->front());
    unique.counts.push_back(std::ssize(*places));
  }
  return unique;
}

// The literal cut along the axis.
template <typename T>
std::vector<std::vector<T>> parts_along(const xla::Literal& value, std::int64_t axis) {
  const auto elements = value.data<T>();
  const absl::Span<const std::int64_t> sizes = value.shape().dimensions();
  const auto place = static_cast<std::size_t>(axis);
  const std::int64_t count = sizes[place];
  const std::int64_t inner = product(sizes.subspan(place + 1));
  std::vector<std::vector<T>> parts(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < std::ssize(elements); ++i) {
    parts[static_cast<std::size_t>(i / inner % count)].push_back(
        elements[static_cast<std::size_t>(i)]);
  }
  return parts;
}

template <typename T>
UniqueParts unique_of(const Node& node, const xla::Literal& value, xla::PrimitiveType type,
                      std::int64_t axis) {
  const auto converted = value.Convert(type);
  if (!converted.ok()) node.refuse("needs numbers");
  return unique_parts(parts_along<T>(*converted, axis), node.integer("sorted", 1) != 0);
}

void lower_unique(Node& node) {
  const auto [x, axis] = along_axis(node);
  auto value = node.known(0).Reshape(node.sizes_of(x));
  if (!value.ok()) node.refuse("needs a tensor");
  const auto type = node.type(0);
  UniqueParts unique;
  if (is_real(type)) {
    unique = unique_of<double>(node, *value, xla::F64, axis);
  } else if (is_unsigned(type)) {
    unique = unique_of<std::uint64_t>(node, *value, xla::U64, axis);
  } else {
    unique = unique_of<std::int64_t>(node, *value, xla::S64, axis);
  }
  node.set(0, take_places(node, x, axis, unique.first));
  node.set(1, constant_integers(node, unique.first));
  node.set(2, constant_integers(node, unique.inverse));
  node.set(3, constant_integers(node, unique.counts));
}

}  // namespace

std::vector<OnnxOperator> selection_operators() {
  return {
      {"ArgMax", 1, lower_arg_extreme<true>}, {"ArgMin", 1, lower_arg_extreme<false>},
      {"Compress", 9, lower_compress, {1}},   {"NonZero", 9, lower_non_zero, {0}},
      {"OneHot", 9, lower_one_hot, {1}},      {"TopK", 1, lower_top_k, {1}},
      {"Unique", 11, lower_unique, {0}},
  };
}

}  // namespace tfaot::toolkit::engine
