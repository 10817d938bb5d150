// SPDX-License-Identifier: Apache-2.0
// Operators that read or write elements at the places that another operand holds.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/known_value.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/places.h"
#include "onnx/refusal.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

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
  const std::int64_t axis = node.axis(node.integer("axis", 0), std::ssize(sizes));
  const std::int64_t size = size_at(sizes, axis);
  Dimensions result = sizes;
  result.erase(result.begin() + axis);
  result.insert(result.begin() + axis, wanted.begin(), wanted.end());
  node.check_sizes(result);
  if (product(result) == 0) return node.set(zeros_of(node, node.type(0), result));
  if (const auto places = known_places(node, size)) {
    return node.set(xla::Reshape(take_places(node, x, axis, *places), result));
  }
  xla::GatherDimensionNumbers numbers;
  const auto rank = std::ssize(wanted);
  for (std::int64_t i = 0; i < std::ssize(result); ++i) {
    if (i < axis || i >= axis + rank) numbers.add_offset_dims(i);
  }
  numbers.add_collapsed_slice_dims(axis);
  numbers.add_start_index_map(axis);
  numbers.set_index_vector_dim(rank);
  Dimensions slice = sizes;
  size_at(slice, axis) = 1;
  node.set(xla::Gather(x, counted_from_start(node, node.operand(1), size), numbers, slice));
}

// For each element of `along`, which holds places along `axis`, the places along all dimensions.
XlaOp whole_places(const Node& node, XlaOp along, std::int64_t axis) {
  const Dimensions sizes = node.sizes_of(along);
  const auto type = node.type_of(along);
  Dimensions one = sizes;
  one.push_back(1);
  std::vector<XlaOp> parts;
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    const XlaOp part = i == axis ? along : index_along(node, type, sizes, i);
    parts.push_back(xla::Reshape(part, one));
  }
  return xla::ConcatInDim(&node.builder(), parts, std::ssize(sizes));
}

// Places along `axis`, with all dimensions in reach of the operand.
XlaOp element_places(const Node& node, std::int64_t axis) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions wanted = node.sizes(1);
  if (wanted.size() != sizes.size()) node.refuse("needs as many dimensions of indices as of data");
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    if (i != axis && size_at(wanted, i) > size_at(sizes, i)) {
      node.refuse(fmt::format("has more indices than data along dimension {}", i));
    }
  }
  return whole_places(node, counted_from_start(node, node.operand(1), size_at(sizes, axis)), axis);
}

void lower_gather_elements(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto rank = std::ssize(sizes);
  const std::int64_t axis = node.axis(node.integer("axis", 0), rank);
  if (product(node.sizes(1)) == 0) {
    return node.set(zeros_of(node, node.type(0), node.sizes(1)));
  }
  xla::GatherDimensionNumbers numbers;
  for (std::int64_t i = 0; i < rank; ++i) {
    numbers.add_collapsed_slice_dims(i);
    numbers.add_start_index_map(i);
  }
  numbers.set_index_vector_dim(rank);
  const Dimensions slice(sizes.size(), 1);
  node.set(xla::Gather(node.operand(0), element_places(node, axis), numbers, slice));
}

// Tuples of indices, from 0 on. Dimensions before `first` are not in the tuples.
XlaOp tuple_places(const Node& node, std::int64_t first) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions wanted = node.sizes(1);
  if (wanted.empty()) node.refuse("has a single index in place of tuples");
  const std::int64_t length = wanted.back();
  if (first + length > std::ssize(sizes)) {
    node.refuse("has tuples of more indices than its operand has dimensions");
  }
  const XlaOp indices = node.operand(1);
  const XlaOp ends =
      constant_integers(node, {sizes.begin() + first, sizes.begin() + first + length});
  const XlaOp from_end =
      xla::Add(indices, broadcast_to(node, xla::ConvertElementType(ends, node.type(1)), wanted));
  return xla::Select(xla::Lt(indices, scalar_like(node, indices, 0)), from_end, indices);
}

void lower_gather_nd(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions wanted = node.sizes(1);
  const std::int64_t batch = node.integer("batch_dims", 0);
  const auto rank = std::ssize(wanted);
  if (batch < 0 || batch >= rank || batch > std::ssize(sizes))
    node.refuse("has too many batch_dims");
  XlaOp places = tuple_places(node, batch);
  Dimensions one = wanted;
  one.back() = 1;
  std::vector<XlaOp> parts;
  for (std::int64_t i = 0; i < batch; ++i) {
    parts.push_back(index_along(node, node.type(1), one, i));
  }
  parts.push_back(places);
  places = xla::ConcatInDim(&node.builder(), parts, rank - 1);
  const std::int64_t indexed = batch + wanted.back();
  Dimensions slice = sizes;
  Dimensions result(wanted.begin(), wanted.end() - 1);
  result.insert(result.end(), sizes.begin() + indexed, sizes.end());
  if (product(result) == 0) return node.set(zeros_of(node, node.type(0), result));
  xla::GatherDimensionNumbers numbers;
  for (std::int64_t i = 0; i < indexed; ++i) {
    size_at(slice, i) = 1;
    numbers.add_collapsed_slice_dims(i);
    numbers.add_start_index_map(i);
  }
  for (std::int64_t i = rank - 1; i < std::ssize(result); ++i) numbers.add_offset_dims(i);
  numbers.set_index_vector_dim(rank - 1);
  node.set(xla::Gather(node.operand(0), places, numbers, slice));
}

// What becomes of an element and its update.
xla::XlaComputation update_computation(const Node& node, xla::PrimitiveType type) {
  const std::string how = node.text("reduction", "none");
  xla::XlaBuilder* const builder = &node.builder();
  const auto make = [&](XlaOp (*combine)(XlaOp, XlaOp)) {
    return xla::CreateScalarComputation("update_" + how, type, builder,
                                        [combine](XlaOp a, XlaOp b) { return combine(a, b); });
  };
  if (how == "none") return make([](XlaOp, XlaOp b) { return b; });
  if (how == "add") return make([](XlaOp a, XlaOp b) { return xla::Add(a, b); });
  if (how == "mul") return make([](XlaOp a, XlaOp b) { return xla::Mul(a, b); });
  if (how == "max") return make([](XlaOp a, XlaOp b) { return xla::Max(a, b); });
  if (how == "min") return make([](XlaOp a, XlaOp b) { return xla::Min(a, b); });
  node.refuse(fmt::format("has the reduction '{}'", how));
}

// XLA does not say that a scatter of known values is known, but shapes are made by them.
std::optional<xla::Literal> known_scatter(const Node& node, XlaOp places, XlaOp updates,
                                          const xla::ScatterDimensionNumbers& numbers) {
  if (product(node.sizes(0)) > kMostOfKnownScatter) return std::nullopt;
  xla::XlaBuilder alone("scatter");
  std::vector<XlaOp> operands;
  for (const XlaOp op : {node.operand(0), places, updates}) {
    const auto value = known_value(op);
    if (!value) throw Refusal(value.error());
    if (!*value) return std::nullopt;
    operands.push_back(xla::ConstantLiteral(&alone, **value));
  }
  xla::Scatter(operands[0], operands[1], operands[2], update_computation(node, node.type(0)),
               numbers);
  const auto built = alone.Build();
  if (!built.ok()) node.refuse("cannot be compiled: " + std::string(built.status().message()));
  auto value = value_of_constants(*built);
  if (!value) throw Refusal(value.error());
  return *std::move(value);
}

// Of equal places, the last update counts.
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
  xla::ScatterDimensionNumbers numbers;
  for (std::int64_t i = 0; i < rank; ++i) {
    numbers.add_inserted_window_dims(i);
    numbers.add_scatter_dims_to_operand_dims(i);
  }
  numbers.set_index_vector_dim(rank);
  set_scatter(node, element_places(node, axis), node.operand(2), numbers);
}

void lower_scatter_nd(Node& node) {
  const XlaOp places = tuple_places(node, 0);
  const Dimensions wanted = node.sizes(1);
  xla::ScatterDimensionNumbers numbers;
  for (std::int64_t i = 0; i < wanted.back(); ++i) {
    numbers.add_inserted_window_dims(i);
    numbers.add_scatter_dims_to_operand_dims(i);
  }
  const auto rank = std::ssize(wanted);
  for (std::int64_t i = rank - 1; i < node.rank(2); ++i) numbers.add_update_window_dims(i);
  numbers.set_index_vector_dim(rank - 1);
  set_scatter(node, places, node.operand(2), numbers);
}

// Writes an update into a cache: at its start, or where each row of the batch says.
void lower_tensor_scatter(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions written = node.sizes(1);
  const auto rank = std::ssize(sizes);
  const std::int64_t axis = node.axis(node.integer("axis", -2), rank);
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") node.refuse(fmt::format("has the mode '{}'", mode));
  if (axis == 0 || std::ssize(written) != rank) node.refuse("has an update of other dimensions");
  if (!node.has(2)) {
    const std::vector<XlaOp> start(sizes.size(), scalar(node, xla::S64, 0));
    return node.set(xla::DynamicUpdateSlice(node.operand(0), node.operand(1), start));
  }
  const Dimensions grid = {sizes.front(), size_at(written, axis)};
  const XlaOp first = xla::ConvertElementType(node.operand(2), xla::S64);
  XlaOp places =
      xla::Add(xla::BroadcastInDim(first, grid, {0}), index_along(node, xla::S64, grid, 1));
  if (mode == "circular")
    places = xla::Rem(places, scalar(node, xla::S64, static_cast<double>(size_at(sizes, axis))));
  xla::ScatterDimensionNumbers numbers;
  for (std::int64_t i = 0; i < rank; ++i) {
    if (i != 0 && i != axis) {
      numbers.add_update_window_dims(i);
      continue;
    }
    numbers.add_inserted_window_dims(i);
    numbers.add_scatter_dims_to_operand_dims(i);
  }
  numbers.set_index_vector_dim(2);
  set_scatter(node, whole_places(node, places, 1), node.operand(1), numbers);
}

// Turns the first elements of each row of the batch around, as many as the second operand says.
void lower_reverse_sequence(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t batch = node.axis(node.integer("batch_axis", 1), std::ssize(sizes));
  const std::int64_t time = node.axis(node.integer("time_axis", 0), std::ssize(sizes));
  if (batch == time) node.refuse("has one axis for both batch and time");
  const Dimensions axes = {std::min(batch, time), std::max(batch, time)};
  const Dimensions grid = {size_at(sizes, axes[0]), size_at(sizes, axes[1])};
  const std::int64_t time_of_grid = batch < time ? 1 : 0;
  const XlaOp lengths = xla::BroadcastInDim(xla::ConvertElementType(node.operand(1), xla::S64),
                                            grid, {1 - time_of_grid});
  const XlaOp step = index_along(node, xla::S64, grid, time_of_grid);
  const XlaOp back = xla::Sub(xla::Sub(lengths, scalar(node, xla::S64, 1)), step);
  const XlaOp from = xla::Select(xla::Lt(step, lengths), back, step);
  xla::GatherDimensionNumbers numbers;
  Dimensions slice = sizes;
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    if (i != batch && i != time) numbers.add_offset_dims(i);
  }
  for (const std::int64_t axis : axes) {
    numbers.add_collapsed_slice_dims(axis);
    numbers.add_start_index_map(axis);
    size_at(slice, axis) = 1;
  }
  numbers.set_index_vector_dim(2);
  node.set(xla::Gather(node.operand(0), whole_places(node, from, time_of_grid), numbers, slice));
}

}  // namespace

std::vector<OnnxOperator> gather_operators() {
  return {
      {"Gather", 1, lower_gather, {}, {}, {}, {1}},
      {"GatherElements", 11, lower_gather_elements, {}, {}, {}, {1}},
      {"GatherND", 11, lower_gather_nd, {}, {}, {}, {1}},
      {"ReverseSequence", 10, lower_reverse_sequence, {}, {}, {}, {1}},
      {"Scatter", 9, lower_scatter_elements, {}, {}, {}, {1}},
      {"ScatterElements", 11, lower_scatter_elements, {}, {}, {}, {1}},
      {"ScatterND", 11, lower_scatter_nd, {}, {}, {}, {1}},
      {"TensorScatter", 24, lower_tensor_scatter},
  };
}

}  // namespace tfaot::toolkit::engine
