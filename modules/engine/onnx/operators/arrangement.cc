// SPDX-License-Identifier: Apache-2.0
// Operators that arrange elements anew: padding, blocks, triangles, and sums along a dimension.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/onnx_tensor.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/places.h"
#include "tfaot/base/limits.h"
#include "xla/client/lib/constants.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// How many elements each dimension gets before and after its own; negative ones are cut off.
struct PadWidths {
  Dimensions before;
  Dimensions after;
};

// Attributes before opset 11, then operands; axes since opset 18.
PadWidths pad_widths(const Node& node) {
  const std::int64_t rank = node.rank(0);
  const auto pads =
      node.opset() < 11 ? node.integers("pads").value_or(Dimensions()) : node.known_integers(1);
  const Dimensions axes = node.opset() >= 18 && node.has(3)
                              ? node.axes(node.known_integers(3), rank)
                              : dimension_range(0, rank);
  if (pads.size() != 2 * axes.size()) node.refuse("needs two pads for each axis");
  for (const std::int64_t pad : pads) {
    if (pad < -kMostTensorElements || pad > kMostTensorElements) {
      node.refuse(fmt::format("pads a dimension by {}", pad));
    }
  }
  PadWidths widths{Dimensions(static_cast<std::size_t>(rank)),
                   Dimensions(static_cast<std::size_t>(rank))};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    size_at(widths.before, axes[i]) = pads[i];
    size_at(widths.after, axes[i]) = pads[axes.size() + i];
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

// Which element of a dimension stands for place `at` beyond its ends.
std::int64_t mirrored_place(const Node& node, const std::string& mode, std::int64_t at,
                            std::int64_t size) {
  const auto modulo = [](std::int64_t a, std::int64_t by) { return ((a % by) + by) % by; };
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, size - 1);
  if (mode == "wrap") return modulo(at, size);
  if (mode != "reflect") node.refuse(fmt::format("has the mode '{}'", mode));
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
    std::int64_t& before = size_at(widths.before, axis);
    std::int64_t& after = size_at(widths.after, axis);
    const std::int64_t start = std::max<std::int64_t>(0, -before);
    const std::int64_t end =
        std::max(start, size_at(node.sizes_of(x), axis) - std::max<std::int64_t>(0, -after));
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
  const auto given = node.integers("axes");
  const Dimensions axes =
      given ? node.axes(*given, std::ssize(sizes)) : dimension_range(0, std::ssize(sizes));
  if (axes.size() != shape.size()) node.refuse("needs one size for each axis");
  PadWidths widths{Dimensions(sizes.size()), Dimensions(sizes.size())};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t change = shape[i] - size_at(sizes, axes[i]);
    size_at(widths.before, axes[i]) = change / 2;
    size_at(widths.after, axes[i]) = change - change / 2;
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
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") node.refuse(fmt::format("has the mode '{}'", mode));
  const bool depth_first = mode == "CRD";
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

// Of each element of the last two dimensions, its column less its row.
XlaOp diagonal_of(const Node& node, const Dimensions& sizes) {
  const auto rank = std::ssize(sizes);
  return xla::Sub(index_along(node, xla::S64, sizes, rank - 1),
                  index_along(node, xla::S64, sizes, rank - 2));
}

void lower_trilu(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (sizes.size() < 2) node.refuse("needs matrices");
  const XlaOp x = node.operand(0);
  const XlaOp border = node.has(1) ? xla::Reshape(node.operand(1), {}) : scalar(node, xla::S64, 0);
  const Dimensions matrix(sizes.end() - 2, sizes.end());
  const XlaOp diagonal = diagonal_of(node, matrix);
  const bool upper = node.integer("upper", 1) != 0;
  const XlaOp kept = upper ? xla::Ge(diagonal, border) : xla::Le(diagonal, border);
  node.set(xla::Select(broadcast_to(node, kept, sizes), x, zeros_of(node, node.type(0), sizes)));
}

void lower_eye_like(Node& node) {
  Dimensions sizes = node.sizes(0);
  if (sizes.size() == 1) sizes.push_back(sizes.front());
  if (sizes.size() != 2) node.refuse("needs a matrix");
  auto type = node.type(0);
  if (node.has_attribute("dtype")) {
    const auto onnx_type = static_cast<int>(node.integer("dtype"));
    const auto found = element_type(onnx_type);
    if (!found)
      node.refuse(fmt::format("makes {}, which cannot be compiled", onnx_type_name(onnx_type)));
    type = *found;
  }
  const XlaOp diagonal = diagonal_of(node, sizes);
  const XlaOp is_one = xla::Eq(diagonal, xla::ScalarLike(diagonal, node.integer("k", 0)));
  node.set(xla::ConvertElementType(is_one, type));
}

// Moves all elements along one dimension; `filled` takes the places that get empty.
XlaOp moved_along(const Node& node, XlaOp x, XlaOp filled, std::int64_t axis, std::int64_t by) {
  const auto rank = node.sizes_of(x).size();
  PadWidths widths{Dimensions(rank), Dimensions(rank)};
  size_at(widths.before, axis) = by;
  size_at(widths.after, axis) = -by;
  return pad_by(x, filled, widths);
}

// Each element with all before it, in log2(size) steps of operations on whole tensors.
template <XlaOp (*kCombine)(XlaOp, XlaOp, absl::Span<const std::int64_t>)>
void set_accumulated(Node& node, double neutral) {
  XlaOp x = node.operand(0);
  const Dimensions sizes = node.sizes(0);
  const auto axes = node.known_integers(1);
  if (axes.size() != 1) node.refuse("needs one axis");
  const std::int64_t axis = node.axis(axes.front(), std::ssize(sizes));
  const std::int64_t size = size_at(sizes, axis);
  const std::int64_t way = node.integer("reverse", 0) != 0 ? -1 : 1;
  const XlaOp filled = scalar(node, node.type(0), neutral);
  if (node.integer("exclusive", 0) != 0 && size > 0) x = moved_along(node, x, filled, axis, way);
  for (std::int64_t step = 1; step < size; step *= 2) {
    x = kCombine(x, moved_along(node, x, filled, axis, way * step), {});
  }
  node.set(x);
}

void lower_cum_sum(Node& node) { set_accumulated<xla::Add>(node, 0); }
void lower_cum_prod(Node& node) { set_accumulated<xla::Mul>(node, 1); }

void lower_bit_cast(Node& node) {
  const auto onnx_type = static_cast<int>(node.integer("to"));
  const auto to = element_type(onnx_type);
  if (!to)
    node.refuse(fmt::format("makes {}, which cannot be compiled", onnx_type_name(onnx_type)));
  const auto from = node.type(0);
  const XlaOp x = node.operand(0);
  if (xla::primitive_util::ByteWidth(from) != xla::primitive_util::ByteWidth(*to)) {
    node.refuse(fmt::format("makes {} of elements of another width", onnx_type_name(onnx_type)));
  }
  if (from == xla::PRED || *to == xla::PRED) {
    // Booleans are bytes of 0 and 1.
    const XlaOp byte = from == xla::PRED ? xla::ConvertElementType(x, xla::U8) : x;
    return node.set(*to == xla::PRED ? xla::Ne(byte, xla::ZerosLike(byte))
                                     : xla::BitcastConvertType(byte, *to));
  }
  node.set(xla::BitcastConvertType(x, *to));
}

}  // namespace

std::vector<OnnxOperator> arrangement_operators() {
  return {
      {"BitCast", 26, lower_bit_cast},
      {"CenterCropPad", 18, lower_center_crop_pad, {1}},
      {"CumProd", 26, lower_cum_prod, {1}},
      {"CumSum", 11, lower_cum_sum, {1}},
      {"DepthToSpace", 1, lower_depth_to_space},
      {"EyeLike", 9, lower_eye_like},
      {"Pad", 2, lower_pad, {1, 3}},
      {"SpaceToDepth", 1, lower_space_to_depth},
      {"Trilu", 14, lower_trilu, {}, {}, {}, {1}},
  };
}

}  // namespace tfaot::toolkit::engine
