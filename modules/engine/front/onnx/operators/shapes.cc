// SPDX-License-Identifier: Apache-2.0
// Operators that move or make elements without computing with them: shapes, constants, joins, cuts,
// paddings, blocks; and running sums.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "front/onnx/onnx_tensor.h"
#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "tfaot/base/limits.h"
#include "xla/client/lib/constants.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

void lower_identity(Node& node) { node.set(node.operand(0)); }

// A Dropout of a net that is not trained passes everything.
void lower_dropout(Node& node) {
  const auto training = node.has(2) ? node.known_integers(2) : Dimensions();
  if ((node.opset() < 7 && !node.flag("is_test")) || (!training.empty() && training[0] != 0))
    node.refuse("draws random numbers");
  node.set(0, node.operand(0));
  if (!node.wants(1)) return;
  node.set(1, xla::Broadcast(scalar(node, xla::PRED, 1), node.sizes(0)));
}

// All that a Constant can hold but strings. A sparse tensor was made dense when the model was read.
void lower_constant(Node& node) {
  auto value = node.tensor("value");
  if (node.has_attribute("value_float")) {
    value = xla::LiteralUtil::CreateR0<float>(node.real("value_float", 0));
  } else if (node.has_attribute("value_floats")) {
    value = xla::LiteralUtil::CreateR1<float>(node.reals("value_floats"));
  } else if (node.has_attribute("value_int")) {
    value = xla::LiteralUtil::CreateR0<std::int64_t>(node.integer("value_int"));
  } else if (node.has_attribute("value_ints")) {
    value = xla::LiteralUtil::CreateR1<std::int64_t>(node.integers("value_ints"));
  }
  if (!value) node.refuse("holds strings, which cannot be compiled");
  node.set(xla::ConstantLiteral(&node.builder(), *value));
}

void lower_constant_of_shape(Node& node) {
  auto value = node.tensor("value");
  if (!value) value = xla::LiteralUtil::CreateR1<float>({0});
  if (value->element_count() != 1) node.refuse("needs one element as its value");
  const XlaOp element = xla::Reshape(xla::ConstantLiteral(&node.builder(), *value), {});
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

void lower_size(Node& node) { node.set(constant_integer(node, product(node.sizes(0)))); }

// 0 is the operand's own size, unless `allowzero`; -1 is what is left.
void lower_reshape(Node& node) {
  const Dimensions from = node.sizes(0);
  Dimensions to = node.known_integers(1);
  const bool zero_is_zero = node.flag("allowzero");
  std::int64_t open = -1;
  for (std::int64_t i = 0; i < std::ssize(to); ++i) {
    std::int64_t& size = entry(to, i);
    if (size == -1) {
      if (open >= 0) node.refuse("has two dimensions of size -1");
      open = i;
      size = 1;
    } else if (size == 0 && !zero_is_zero) {
      if (i >= std::ssize(from))
        node.refuse("copies the size of a dimension that its operand lacks");
      size = entry(from, i);
    }
  }
  const std::int64_t elements = product(from);
  if (open >= 0) {
    const std::int64_t others = product(to);
    if (others == 0 || elements % others != 0) node.refuse("cannot reshape {} elements", elements);
    entry(to, open) = elements / others;
  }
  node.set(xla::Reshape(node.operand(0), to));
}

void lower_flatten(Node& node) {
  node.set(xla::Reshape(node.operand(0), sizes_split_at(node, node.integer("axis", 1))));
}

void lower_transpose(Node& node) {
  Dimensions order = dimension_range(0, node.rank(0));
  std::ranges::reverse(order);
  node.set(xla::Transpose(node.operand(0), node.optional_integers("perm").value_or(order)));
}

// An operand since opset 13; an attribute before.
std::optional<std::vector<std::int64_t>> squeezed_axes(const Node& node) {
  if (node.opset() < 13) return node.optional_integers("axes");
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
    const std::int64_t size = entry(sizes, i);
    const bool goes = given ? std::ranges::count(axes, i) > 0 : size == 1;
    if (!goes) kept.push_back(size);
    if (goes && size != 1) node.refuse("squeezes a dimension of size {}", size);
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
    if (auto sizes = node.optional_integers("split")) return *sizes;
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
  const std::int64_t size = entry(node.sizes(0), axis);
  const Dimensions sizes = split_sizes(node, size);
  if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != size)
    node.refuse("splits a dimension of size {} into parts of other sizes", size);
  std::int64_t start = 0;
  for (int i = 0; i < node.result_count() && i < std::ssize(sizes); ++i) {
    const std::int64_t end = start + entry(sizes, i);
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
    if (old) return node.integers(attribute);
    return node.has(operand) ? node.known_integers(operand) : Dimensions();
  };
  const auto starts = given("starts", 1);
  const auto ends = given("ends", 2);
  auto axes = given("axes", 3);
  const auto steps = old ? Dimensions() : given("steps", 4);
  if (axes.empty()) axes = dimension_range(0, std::ssize(starts));
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
  const std::int64_t size = entry(node.sizes_of(x), range.axis);
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
  Dimensions spread, places, to;
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
  const double start = node.known_real(0);
  const double limit = node.known_real(1);
  const double step = node.known_real(2);
  if (step == 0) node.refuse("has a step of 0");
  const double numbers = std::ceil((limit - start) / step);
  if (!(numbers <= static_cast<double>(kMostTensorElements)))
    node.refuse("makes {} numbers", numbers);
  const auto count = static_cast<std::int64_t>(std::max(0.0, numbers));
  const XlaOp index = xla::Iota(&node.builder(), node.type(0), count);
  const auto each = [&](int operand) {
    return broadcast_to(node, xla::Reshape(node.operand(operand), {}), {count});
  };
  node.set(each(0) + index * each(2));
}

// Elements added before and after each dimension; a negative number cuts them off.
struct PadWidths {
  Dimensions before;
  Dimensions after;
};
PadWidths no_padding(std::int64_t rank) {
  const Dimensions zeros(static_cast<std::size_t>(rank), 0);
  return {zeros, zeros};
}

// Attributes before opset 11, then operands; axes since opset 18.
PadWidths pad_widths(const Node& node) {
  const std::int64_t rank = node.rank(0);
  const auto pads = node.opset() < 11 ? node.integers("pads") : node.known_integers(1);
  const Dimensions axes = node.opset() >= 18 && node.has(3)
                              ? node.axes(node.known_integers(3), rank)
                              : dimension_range(0, rank);
  if (pads.size() != 2 * axes.size()) node.refuse("needs two pads for each axis");
  for (const std::int64_t pad : pads) {
    if (pad < -kMostTensorElements || pad > kMostTensorElements)
      node.refuse("pads a dimension by {}", pad);
  }
  PadWidths widths = no_padding(rank);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    entry(widths.before, axes[i]) = pads[i];
    entry(widths.after, axes[i]) = pads[axes.size() + i];
  }
  return widths;
}

XlaOp pad_value(const Node& node) {
  const auto type = node.type(0);
  if (node.opset() >= 11) {
    return node.has(2) ? xla::Reshape(node.operand(2), {}) : scalar(node, type, 0);
  }
  return scalar(node, type, node.real("value", 0));
}

XlaOp pad_by(XlaOp x, XlaOp value, const PadWidths& widths) {
  xla::PaddingConfig config;
  for (std::size_t i = 0; i < widths.before.size(); ++i) {
    auto* const dimension = config.add_dimensions();
    dimension->set_edge_padding_low(widths.before[i]);
    dimension->set_edge_padding_high(widths.after[i]);
  }
  return xla::Pad(x, value, config);
}

// Maps place `at` beyond the ends of a dimension to one of its elements.
std::int64_t mirrored_place(const Node& node, const std::string& mode, std::int64_t at,
                            std::int64_t size) {
  const auto modulo = [](std::int64_t a, std::int64_t by) { return ((a % by) + by) % by; };
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, size - 1);
  if (mode == "wrap") return modulo(at, size);
  if (mode != "reflect") node.refuse("has the mode '{}'", mode);
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t place = modulo(at, period);
  return place < size ? place : period - place;
}

// Elements are cut off first.
void lower_pad(Node& node) {
  XlaOp x = node.operand(0);
  PadWidths widths = pad_widths(node);
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") {
    Dimensions padded = node.sizes(0);
    for (std::size_t i = 0; i < padded.size(); ++i) padded[i] += widths.before[i] + widths.after[i];
    node.check_sizes(padded);
    return node.set(pad_by(x, pad_value(node), widths));
  }
  for (std::int64_t axis = 0; axis < node.rank(0); ++axis) {
    std::int64_t& before = entry(widths.before, axis);
    std::int64_t& after = entry(widths.after, axis);
    const std::int64_t start = std::max<std::int64_t>(0, -before);
    const std::int64_t end =
        std::max(start, entry(node.sizes_of(x), axis) - std::max<std::int64_t>(0, -after));
    x = xla::SliceInDim(x, start, end, 1, axis);
    before = std::max<std::int64_t>(0, before);
    after = std::max<std::int64_t>(0, after);
    if (before == 0 && after == 0) continue;
    const std::int64_t size = end - start;
    if (size == 0) node.refuse("pads a dimension that has no elements");
    node.check_made(before, kMostKnownElements);
    node.check_made(after, kMostKnownElements);
    node.check_made(size, kMostKnownElements);
    std::vector<std::int64_t> places;
    for (std::int64_t at = -before; at < size + after; ++at) {
      places.push_back(mirrored_place(node, mode, at, size));
    }
    x = take_places(node, x, axis, places);
  }
  node.set(x);
}

// To a shape: cuts or pads both ends alike, the far one by one more.
void lower_center_crop_pad(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto shape = node.known_sizes(1);
  const Dimensions axes = node.axes_attribute(std::ssize(sizes));
  if (axes.size() != shape.size()) node.refuse("needs one size for each axis");
  PadWidths widths = no_padding(std::ssize(sizes));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t change = shape[i] - entry(sizes, axes[i]);
    entry(widths.before, axes[i]) = change / 2;
    entry(widths.after, axes[i]) = change - change / 2;
  }
  node.set(pad_by(node.operand(0), scalar(node, node.type(0), 0), widths));
}

// The sizes of a batch of images, [N, C, H, W], and the side of a block.
struct BlockedImage {
  std::int64_t n, c, h, w;
  std::int64_t side;
};
BlockedImage blocked_image(const Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (sizes.size() != 4) node.refuse("needs four dimensions");
  const BlockedImage image{sizes[0], sizes[1], sizes[2], sizes[3], node.integer("blocksize")};
  if (image.side < 1) node.refuse("needs a blocksize of 1 or more");
  return image;
}

void lower_depth_to_space(Node& node) {
  const auto [n, c, h, w, b] = blocked_image(node);
  if (c % (b * b) != 0) node.refuse("has channels that do not fill blocks");
  const std::int64_t depth = c / (b * b);
  const bool depth_first = node.word("mode", {"DCR", "CRD"}) == "CRD";
  const Dimensions split =
      depth_first ? Dimensions{n, depth, b, b, h, w} : Dimensions{n, b, b, depth, h, w};
  const Dimensions order =
      depth_first ? Dimensions{0, 1, 4, 2, 5, 3} : Dimensions{0, 3, 4, 1, 5, 2};
  const XlaOp moved = xla::Transpose(xla::Reshape(node.operand(0), split), order);
  node.set(xla::Reshape(moved, {n, depth, h * b, w * b}));
}

void lower_space_to_depth(Node& node) {
  const auto [n, c, h, w, b] = blocked_image(node);
  if (h % b != 0 || w % b != 0) node.refuse("has an image that blocks do not fill");
  const XlaOp split = xla::Reshape(node.operand(0), {n, c, h / b, b, w / b, b});
  const XlaOp moved = xla::Transpose(split, {0, 3, 5, 1, 2, 4});
  node.set(xla::Reshape(moved, {n, c * b * b, h / b, w / b}));
}

// Column minus row of each element of the last two dimensions.
XlaOp diagonal_of(const Node& node, const Dimensions& sizes) {
  const auto rank = std::ssize(sizes);
  return index_along(node, xla::S64, sizes, rank - 1) -
         index_along(node, xla::S64, sizes, rank - 2);
}

void lower_trilu(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (sizes.size() < 2) node.refuse("needs matrices");
  const XlaOp x = node.operand(0);
  const XlaOp border = node.has(1) ? xla::Reshape(node.operand(1), {}) : scalar(node, xla::S64, 0);
  const Dimensions matrix(sizes.end() - 2, sizes.end());
  const XlaOp diagonal = diagonal_of(node, matrix);
  const bool upper = node.flag("upper", true);
  const XlaOp kept = upper ? diagonal >= border : diagonal <= border;
  node.set(xla::Select(broadcast_to(node, kept, sizes), x, zeros_of(node, node.type(0), sizes)));
}

void lower_eye_like(Node& node) {
  Dimensions sizes = node.sizes(0);
  if (sizes.size() == 1) sizes.push_back(sizes.front());
  if (sizes.size() != 2) node.refuse("needs a matrix");
  const auto type = node.has_attribute("dtype")
                        ? node.type_of_number(node.integer("dtype"), "makes")
                        : node.type(0);
  node.set(cast(diagonal_of(node, sizes) == node.integer("k", 0), type));
}

// Each element with all before it, in log2(size) steps of operations on whole tensors.
template <XlaOp (*kCombine)(XlaOp, XlaOp, absl::Span<const std::int64_t>)>
void set_accumulated(Node& node, double neutral) {
  XlaOp x = node.operand(0);
  const Dimensions sizes = node.sizes(0);
  const auto axes = node.known_integers(1);
  if (axes.size() != 1) node.refuse("needs one axis");
  const std::int64_t axis = node.axis(axes.front(), std::ssize(sizes));
  const std::int64_t size = entry(sizes, axis);
  const std::int64_t way = node.flag("reverse") ? -1 : 1;
  // Moves all elements along the axis; the places that get empty are neutral.
  const auto moved = [&](std::int64_t by) {
    return xla::PadInDim(x, scalar(node, node.type(0), neutral), axis, by, -by);
  };
  if (node.flag("exclusive") && size > 0) x = moved(way);
  for (std::int64_t step = 1; step < size; step *= 2) {
    x = kCombine(x, moved(way * step), {});
  }
  node.set(x);
}

void lower_cum_sum(Node& node) { set_accumulated<xla::Add>(node, 0); }
void lower_cum_prod(Node& node) { set_accumulated<xla::Mul>(node, 1); }

void lower_bit_cast(Node& node) {
  const std::int64_t number = node.integer("to");
  const auto to = node.type_of_number(number, "makes");
  const auto from = node.type(0);
  const XlaOp x = node.operand(0);
  if (xla::primitive_util::ByteWidth(from) != xla::primitive_util::ByteWidth(to))
    node.refuse("makes {} of elements of another width", onnx_type_name(static_cast<int>(number)));
  if (from == xla::PRED || to == xla::PRED) {
    // Booleans are bytes of 0 and 1.
    const XlaOp byte = from == xla::PRED ? cast(x, xla::U8) : x;
    return node.set(to == xla::PRED ? byte != xla::ZerosLike(byte)
                                    : xla::BitcastConvertType(byte, to));
  }
  node.set(xla::BitcastConvertType(x, to));
}

}  // namespace

std::vector<OnnxOperator> shape_operators() {
  return {
      {"BitCast", 26, lower_bit_cast},
      {"CenterCropPad", 18, lower_center_crop_pad, {.known = {1}}},
      {"Concat", 4, lower_concat},
      {"Constant", 1, lower_constant},
      {"ConstantOfShape", 9, lower_constant_of_shape, {.known = {0}}},
      {"CumProd", 26, lower_cum_prod, {.known = {1}}},
      {"CumSum", 11, lower_cum_sum, {.known = {1}}},
      {"DepthToSpace", 1, lower_depth_to_space},
      {"Dropout", 6, lower_dropout, {.known = {2}}},
      {"Expand", 8, lower_expand, {.known = {1}}},
      {"EyeLike", 9, lower_eye_like},
      {"Flatten", 1, lower_flatten},
      {"Identity", 1, lower_identity},
      {"Pad", 2, lower_pad, {.known = {1, 3}}},
      {"Range", 11, lower_range, {.known = {0, 1, 2}}},
      {"Reshape", 5, lower_reshape, {.known = {1}}},
      {"Shape", 1, lower_shape},
      {"Size", 1, lower_size},
      {"Slice", 1, lower_slice, {.known = {1, 2, 3, 4}}},
      {"SpaceToDepth", 1, lower_space_to_depth},
      {"Split", 2, lower_split, {.known = {1}}},
      {"Squeeze", 1, lower_squeeze, {.known = {1}}},
      {"Tile", 6, lower_tile, {.known = {1}}},
      {"Transpose", 1, lower_transpose},
      {"Trilu", 14, lower_trilu, {.better_known = {1}}},
      {"Unsqueeze", 1, lower_unsqueeze, {.known = {1}}},
  };
}

}  // namespace tfaot::toolkit::engine
