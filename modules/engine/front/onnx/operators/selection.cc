// SPDX-License-Identifier: Apache-2.0
// Operators that choose elements by indices or by their values, and those that write to such
// places.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

// Results of this size are computed while compiling if their operands are known: shapes.
constexpr std::int64_t kMostOfKnownScatter = 4096;

// Known indices of one dimension, from 0 on; nothing if they depend on inputs.
std::optional<std::vector<std::int64_t>> known_places(const Node& node, std::int64_t size) {
  auto places = node.integers_if_known(1);
  if (!places) return std::nullopt;
  for (std::int64_t& place : *places) place = place < 0 ? place + size : place;
  return places;
}

void lower_gather(Node& node) {
  const XlaOp x = node.operand(0);
  const Dimensions sizes = node.sizes(0);
  const Dimensions wanted = node.sizes(1);
  const auto rank = std::ssize(wanted);
  const std::int64_t axis = node.axis(node.integer("axis", 0), std::ssize(sizes));
  const std::int64_t size = entry(sizes, axis);
  Dimensions result = without(sizes, axis);
  result.insert(result.begin() + axis, wanted.begin(), wanted.end());
  node.check_sizes(result);
  if (product(result) == 0) return node.set(zeros_of(node, node.type(0), result));
  if (const auto places = known_places(node, size)) {
    return node.set(xla::Reshape(take_places(node, x, axis, *places), result));
  }
  const Dimensions kept = dimensions_but(std::ssize(result), dimension_range(axis, axis + rank));
  node.set(gather(node, x, counted_from_start(node, node.operand(1), size), {{axis}, kept, rank}));
}

// For each element of `along`, which holds places along `axis`, the places along all dimensions.
XlaOp whole_places(const Node& node, XlaOp along, std::int64_t axis) {
  const Dimensions sizes = node.sizes_of(along);
  std::vector<XlaOp> parts;
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    const XlaOp part = i == axis ? along : index_along(node, node.type_of(along), sizes, i);
    parts.push_back(xla::Reshape(part, joined(sizes, {1})));
  }
  return xla::ConcatInDim(&node.builder(), parts, std::ssize(sizes));
}

// Places along `axis`, with all dimensions in reach of the operand.
XlaOp element_places(const Node& node, std::int64_t axis) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions wanted = node.sizes(1);
  if (wanted.size() != sizes.size()) node.refuse("needs as many dimensions of indices as of data");
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    if (i != axis && entry(wanted, i) > entry(sizes, i))
      node.refuse("has more indices than data along dimension {}", i);
  }
  return whole_places(node, counted_from_start(node, node.operand(1), entry(sizes, axis)), axis);
}

void lower_gather_elements(Node& node) {
  const std::int64_t rank = node.rank(0);
  const std::int64_t axis = node.axis(node.integer("axis", 0), rank);
  if (product(node.sizes(1)) == 0) {
    return node.set(zeros_of(node, node.type(0), node.sizes(1)));
  }
  node.set(gather(node, node.operand(0), element_places(node, axis),
                  {dimension_range(0, rank), {}, rank}));
}

// Tuples of indices, from 0 on. Dimensions before `first` are not in the tuples.
XlaOp tuple_places(const Node& node, std::int64_t first) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions wanted = node.sizes(1);
  if (wanted.empty()) node.refuse("has a single index in place of tuples");
  const std::int64_t length = wanted.back();
  if (first + length > std::ssize(sizes))
    node.refuse("has tuples of more indices than its operand has dimensions");
  const XlaOp indices = node.operand(1);
  const XlaOp ends =
      constant_integers(node, {sizes.begin() + first, sizes.begin() + first + length});
  const XlaOp from_end = indices + broadcast_to(node, cast(ends, node.type(1)), wanted);
  return xla::Select(indices < 0, from_end, indices);
}

void lower_gather_nd(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions wanted = node.sizes(1);
  const std::int64_t batch = node.integer("batch_dims", 0);
  const auto rank = std::ssize(wanted);
  if (batch < 0 || batch >= rank || batch > std::ssize(sizes))
    node.refuse("has too many batch_dims");
  std::vector<XlaOp> parts;
  for (std::int64_t i = 0; i < batch; ++i) {
    parts.push_back(index_along(node, node.type(1), with_size(wanted, rank - 1, 1), i));
  }
  parts.push_back(tuple_places(node, batch));
  const XlaOp places = xla::ConcatInDim(&node.builder(), parts, rank - 1);
  const std::int64_t indexed = batch + wanted.back();
  const Dimensions result =
      joined({wanted.begin(), wanted.end() - 1}, {sizes.begin() + indexed, sizes.end()});
  if (product(result) == 0) return node.set(zeros_of(node, node.type(0), result));
  node.set(gather(
      node, node.operand(0), places,
      {dimension_range(0, indexed), dimension_range(rank - 1, std::ssize(result)), rank - 1}));
}

// Combines an element and its update.
xla::XlaComputation update_computation(const Node& node, xla::PrimitiveType type) {
  const std::string how = node.text("reduction", "none");
  xla::XlaBuilder* const builder = &node.builder();
  const auto make = [&](XlaOp (*combine)(XlaOp, XlaOp)) {
    return xla::CreateScalarComputation("update_" + how, type, builder,
                                        [combine](XlaOp a, XlaOp b) { return combine(a, b); });
  };
  if (how == "none") return make([](XlaOp, XlaOp b) { return b; });
  if (how == "add") return make([](XlaOp a, XlaOp b) { return a + b; });
  if (how == "mul") return make([](XlaOp a, XlaOp b) { return a * b; });
  if (how == "max") return make([](XlaOp a, XlaOp b) { return xla::Max(a, b); });
  if (how == "min") return make([](XlaOp a, XlaOp b) { return xla::Min(a, b); });
  node.refuse("has the reduction '{}'", how);
}

// XLA does not say that a scatter of known values is known, but shapes are made by them.
std::optional<xla::Literal> known_scatter(const Node& node, XlaOp places, XlaOp updates,
                                          const xla::ScatterDimensionNumbers& numbers) {
  if (product(node.sizes(0)) > kMostOfKnownScatter) return std::nullopt;
  xla::XlaBuilder alone("scatter");
  std::vector<XlaOp> operands;
  for (const XlaOp op : {node.operand(0), places, updates}) {
    const auto value = or_refuse(known_value(op));
    if (!value) return std::nullopt;
    operands.push_back(xla::ConstantLiteral(&alone, *value));
  }
  xla::Scatter(operands[0], operands[1], operands[2], update_computation(node, node.type(0)),
               numbers);
  return or_refuse(value_of_constants(node.made(alone.Build())));
}

// Numbers for places that index some dimensions of the operand; updates have the others as
// `window`.
xla::ScatterDimensionNumbers scatter_numbers(const Dimensions& indexed, const Dimensions& window,
                                             std::int64_t tuple) {
  return xla::HloScatterInstruction::MakeScatterDimNumbers(window, indexed, indexed, tuple);
}

// The last update of equal places counts.
void set_scatter(Node& node, XlaOp places, XlaOp updates,
                 const xla::ScatterDimensionNumbers& numbers) {
  if (product(node.sizes_of(updates)) == 0) return node.set(node.operand(0));
  if (const auto known = known_scatter(node, places, updates, numbers)) {
    return node.set(xla::ConstantLiteral(&node.builder(), *known));
  }
  node.set(xla::Scatter(node.operand(0), places, updates, update_computation(node, node.type(0)),
                        numbers));
}

void lower_scatter_elements(Node& node) {
  const std::int64_t rank = node.rank(0);
  const std::int64_t axis = node.axis(node.integer("axis", 0), rank);
  set_scatter(node, element_places(node, axis), node.operand(2),
              scatter_numbers(dimension_range(0, rank), {}, rank));
}

void lower_scatter_nd(Node& node) {
  const XlaOp places = tuple_places(node, 0);
  const Dimensions wanted = node.sizes(1);
  const auto rank = std::ssize(wanted);
  set_scatter(node, places, node.operand(2),
              scatter_numbers(dimension_range(0, wanted.back()),
                              dimension_range(rank - 1, node.rank(2)), rank - 1));
}

// Writes an update into a cache: at its start, or where each row of the batch says.
void lower_tensor_scatter(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions written = node.sizes(1);
  const auto rank = std::ssize(sizes);
  const std::int64_t axis = node.axis(node.integer("axis", -2), rank);
  const std::string mode = node.word("mode", {"linear", "circular"});
  if (axis == 0 || std::ssize(written) != rank) node.refuse("has an update of other dimensions");
  if (!node.has(2)) {
    const std::vector<XlaOp> start(sizes.size(), constant_integer(node, 0));
    return node.set(xla::DynamicUpdateSlice(node.operand(0), node.operand(1), start));
  }
  const Dimensions grid = {sizes.front(), entry(written, axis)};
  XlaOp places =
      along(cast(node.operand(2), xla::S64), grid, 0) + index_along(node, xla::S64, grid, 1);
  if (mode == "circular") places = places % entry(sizes, axis);
  set_scatter(node, whole_places(node, places, 1), node.operand(1),
              scatter_numbers({0, axis}, dimensions_but(rank, {0, axis}), 2));
}

// Turns the first elements of each row of the batch around, as many as the second operand says.
void lower_reverse_sequence(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t batch = node.axis(node.integer("batch_axis", 1), std::ssize(sizes));
  const std::int64_t time = node.axis(node.integer("time_axis", 0), std::ssize(sizes));
  if (batch == time) node.refuse("has one axis for both batch and time");
  const Dimensions axes = {std::min(batch, time), std::max(batch, time)};
  const Dimensions grid = {entry(sizes, axes[0]), entry(sizes, axes[1])};
  const std::int64_t time_of_grid = batch < time ? 1 : 0;
  const XlaOp lengths = along(cast(node.operand(1), xla::S64), grid, 1 - time_of_grid);
  const XlaOp step = index_along(node, xla::S64, grid, time_of_grid);
  const XlaOp from = xla::Select(step < lengths, lengths - 1 - step, step);
  node.set(gather(node, node.operand(0), whole_places(node, from, time_of_grid),
                  {axes, dimensions_but(std::ssize(sizes), axes), 2}));
}

void lower_one_hot(Node& node) {
  const std::int64_t depth = node.known_integer(1);
  const Dimensions sizes = node.sizes(0);
  const std::int64_t axis = node.axis(node.integer("axis", -1), std::ssize(sizes) + 1);
  const Dimensions result = with_new(sizes, axis, depth);
  node.check_sizes(result);
  const XlaOp indices = counted_from_start(node, cast(node.operand(0), xla::S64), depth);
  const XlaOp is_hot = spread(indices, result, {axis}) == index_along(node, xla::S64, result, axis);
  const auto value = [&](std::int64_t which) {
    return broadcast_to(node, xla::Reshape(slice_at(node.operand(2), which, 0), {}), result);
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
  XlaOp before = largest ? a > b : a < b;
  if (is_real(type)) {
    const XlaOp first = largest ? a : b;
    const XlaOp second = largest ? b : a;
    before = before | ((first != first) & (second == second));
  }
  return node.made(builder->Build(before));
}

// The place of the largest or smallest element, the first one of equals.
XlaOp extreme_place(const Node& node, XlaOp x, std::int64_t axis, bool largest) {
  if (entry(node.sizes_of(x), axis) == 0) node.refuse("looks for an element where there are none");
  return xla::ArgMinMax(x, xla::S32, static_cast<int>(axis), !largest);
}

// One operation instead of a sort.
void set_top_one(Node& node, std::int64_t axis, bool largest) {
  const XlaOp x = node.operand(0);
  const Dimensions one = with_size(node.sizes(0), axis, 1);
  node.set(0, xla::Reshape(largest ? largest_of(x, {axis}) : least_of(x, {axis}), one));
  if (!node.wants(1)) return;
  const XlaOp place = extreme_place(node, x, axis, largest);
  node.set(1, xla::Reshape(cast(place, xla::S64), one));
}

void lower_top_k(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t axis = node.axis(node.integer("axis", -1), std::ssize(sizes));
  const std::int64_t count = node.opset() < 10 ? node.integer("k") : node.known_integer(1);
  if (count < 0 || count > entry(sizes, axis))
    node.refuse("takes {} of {} elements", count, entry(sizes, axis));
  const bool largest = node.flag("largest", true);
  const auto type = node.type(0);
  // XLA's minimum does not order NaN as a sort does.
  if (count == 1 && (largest || !is_real(type))) return set_top_one(node, axis, largest);
  const XlaOp sorted = xla::Sort({node.operand(0), index_along(node, xla::S32, sizes, axis)},
                                 rank_comparator(node, type, largest), axis, /*is_stable=*/true);
  const auto first = [&](std::int64_t which) {
    return xla::SliceInDim(xla::GetTupleElement(sorted, which), 0, count, 1, axis);
  };
  node.set(0, first(0));
  node.set(1, cast(first(1), xla::S64));
}

template <bool kLargest>
void lower_arg_extreme(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t axis = node.axis(node.integer("axis", 0), std::ssize(sizes));
  const bool last = node.flag("select_last_index");
  const XlaOp x = last ? xla::Rev(node.operand(0), {axis}) : node.operand(0);
  XlaOp place = cast(extreme_place(node, x, axis, kLargest), xla::S64);
  if (last) place = like(place, entry(sizes, axis) - 1) - place;
  if (node.flag("keepdims", true)) place = xla::Reshape(place, with_size(sizes, axis, 1));
  node.set(place);
}

// Indices of the elements that are true, along each dimension.
void lower_non_zero(Node& node) {
  const auto value = node.known(0).Convert(xla::F64);
  if (!value.ok()) node.refuse("needs numbers");
  const auto elements = value->data<double>();
  Dimensions sizes = node.sizes(0);
  if (sizes.empty()) sizes = {1};  // as numpy sees a scalar
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < std::ssize(elements); ++i) {
    if (entry(elements, i) != 0) found.push_back(i);
  }
  xla::Literal places(shape_of(xla::S64, {std::ssize(sizes), std::ssize(found)}));
  for (std::int64_t place = 0; place < std::ssize(found); ++place) {
    std::int64_t rest = entry(found, place);
    for (std::int64_t axis = std::ssize(sizes) - 1; axis >= 0; --axis) {
      places.Set<std::int64_t>({axis, place}, rest % entry(sizes, axis));
      rest /= entry(sizes, axis);
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
    if (entry(condition, i) != 0) places.push_back(i);
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
    where[entry(parts, i)].push_back(i);
  }
  std::vector<const std::vector<std::int64_t>*> groups;
  for (const auto& [part, places] : where) groups.push_back(&places);
  if (!sorted) std::ranges::sort(groups, {}, [](const auto* places) { return places->front(); });
  UniqueParts unique;
  unique.inverse.resize(parts.size());
  for (const auto* const places : groups) {
    for (const std::int64_t place : *places) {
      entry(unique.inverse, place) = std::ssize(unique.first);
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
    entry(parts, i / inner % count).push_back(entry(elements, i));
  }
  return parts;
}

template <typename T>
UniqueParts unique_of(const Node& node, const xla::Literal& value, xla::PrimitiveType type,
                      std::int64_t axis) {
  const auto converted = value.Convert(type);
  if (!converted.ok()) node.refuse("needs numbers");
  return unique_parts(parts_along<T>(*converted, axis), node.flag("sorted", true));
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
      {"ArgMax", 1, lower_arg_extreme<true>},
      {"ArgMin", 1, lower_arg_extreme<false>},
      {"Compress", 9, lower_compress, {.known = {1}}},
      {"Gather", 1, lower_gather, {.better_known = {1}}},
      {"GatherElements", 11, lower_gather_elements, {.better_known = {1}}},
      {"GatherND", 11, lower_gather_nd, {.better_known = {1}}},
      {"NonZero", 9, lower_non_zero, {.known = {0}}},
      {"OneHot", 9, lower_one_hot, {.known = {1}}},
      {"ReverseSequence", 10, lower_reverse_sequence, {.better_known = {1}}},
      {"Scatter", 9, lower_scatter_elements, {.better_known = {1}}},
      {"ScatterElements", 11, lower_scatter_elements, {.better_known = {1}}},
      {"ScatterND", 11, lower_scatter_nd, {.better_known = {1}}},
      {"TensorScatter", 24, lower_tensor_scatter},
      {"TopK", 1, lower_top_k, {.known = {1}}},
      {"Unique", 11, lower_unique, {.known = {0}}},
  };
}

}  // namespace tfaot::toolkit::engine
