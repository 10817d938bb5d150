// SPDX-License-Identifier: Apache-2.0
// Operators that move, create or select elements: shapes, constants, concatenation, slices,
// padding, blocks, running sums; gathers, scatters, sorting.

#include "front/onnx/onnx_source.h"
#include "front/onnx/operators/building.h"
#include "tfaot/kernels/abi.h"
#include "xla/client/lib/broadcast.h"
#include "xla/client/lib/comparators.h"
#include "xla/index_util.h"

namespace tfaot::toolkit::engine {
namespace {

void lower_identity(Node& node) { node.set(node.operand(0)); }

// A Dropout passes everything, except in training.
void lower_dropout(Node& node) {
  const auto training = node.has(2) ? node.known_integers(2) : Dimensions();
  if ((node.opset() < 7 && !node.flag("is_test")) || (!training.empty() && training[0] != 0))
    node.refuse("draws random numbers");
  node.set(0, node.operand(0));
  if (!node.wants(1)) return;
  node.set(1, xla::Broadcast(scalar(node, xla::PRED, 1), node.sizes(0)));
}

// Refuses strings. Sparse tensors were made dense when the model was read.
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

// 0 keeps the operand's size, unless `allowzero`; -1 is inferred.
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
  Dimensions order = counted(node.rank(0));
  std::ranges::reverse(order);
  node.set(xla::Transpose(node.operand(0), node.optional_integers("perm").value_or(order)));
}

constexpr MovedList kSqueezedAxes = {13, 1, "axes"};

void lower_squeeze(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto rank = std::ssize(sizes);
  const auto given = integers_of(node, kSqueezedAxes);
  const auto axes = given ? node.axes(*given, rank) : std::vector<std::int64_t>();
  Dimensions kept;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t size = entry(sizes, i);
    const bool goes = given ? contains(axes, i) : size == 1;
    if (!goes) kept.push_back(size);
    if (goes && size != 1) node.refuse("squeezes a dimension of size {}", size);
  }
  node.set(xla::Reshape(node.operand(0), kept));
}

void lower_unsqueeze(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto given = integers_of(node, kSqueezedAxes);
  if (!given) node.refuse("has no axes");
  const auto rank = std::ssize(sizes) + std::ssize(*given);
  const auto axes = node.axes(*given, rank);
  Dimensions made;
  auto next = sizes.begin();
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool is_new = contains(axes, i) || next == sizes.end();
    made.push_back(is_new ? 1 : *next++);
  }
  node.set(xla::Reshape(node.operand(0), made));
}

// Broadcasts in both directions: a size of 1 keeps the operand's.
void lower_expand(Node& node) {
  const Dimensions sizes = common_sizes(node, {node.sizes(0), node.known_sizes(1)});
  node.set(broadcast_to(node, node.operand(0), sizes));
}

void lower_concat(Node& node) {
  const std::int64_t axis = node.axis(node.integer("axis"), node.rank(0));
  node.set(xla::ConcatInDim(&node.builder(), node.operands(), axis));
}

// Without given sizes, all parts are equal, except that the last may be smaller.
Dimensions split_sizes(const Node& node, std::int64_t size) {
  if (auto sizes = integers_of(node, {13, 1, "split"})) return *sizes;
  const std::int64_t parts = node.integer("num_outputs", node.result_count());
  if (parts < 1) node.refuse("splits a dimension into {} parts", parts);
  node.check_made(parts, kMostKnownElements);
  const std::int64_t part = (size + parts - 1) / parts;
  return mapped(counted(parts),
                [&](std::int64_t i) { return std::clamp<std::int64_t>(size - i * part, 0, part); });
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

std::vector<SliceRange> slice_ranges(const Node& node, std::int64_t rank) {
  const auto given = [&](const MovedList& list) {
    return integers_of(node, list).value_or(Dimensions());
  };
  const auto starts = given({10, 1, "starts"});
  const auto ends = given({10, 2, "ends"});
  auto axes = given({10, 3, "axes"});
  const auto steps = node.opset() < 10 ? Dimensions() : given({10, 4, "steps"});
  if (axes.empty()) axes = counted(std::ssize(starts));
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

// Slices one dimension with Python's rules.
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
  const auto repeats = node.known_integers(1);
  if (std::ssize(repeats) != node.rank(0))
    node.refuse("needs a number of repeats for each dimension");
  Dimensions sizes = node.sizes(0);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (repeats[i] < 0) node.refuse("repeats a dimension less than never");
    node.check_sizes({repeats[i], sizes[i]});
    sizes[i] *= repeats[i];
  }
  node.check_sizes(sizes);
  node.set(node.made(xla::BroadcastTo(node.operand(0), sizes)));
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

// Attributes before opset 11, then operands; axes since opset 18.
Paddings pad_widths(const Node& node) {
  const std::int64_t rank = node.rank(0);
  const auto pads = node.opset() < 11 ? node.integers("pads") : node.known_integers(1);
  const Dimensions axes =
      node.opset() >= 18 && node.has(3) ? node.axes(node.known_integers(3), rank) : counted(rank);
  if (pads.size() != 2 * axes.size()) node.refuse("needs two pads for each axis");
  for (const std::int64_t pad : pads) {
    if (pad < -kMostTensorElements || pad > kMostTensorElements)
      node.refuse("pads a dimension by {}", pad);
  }
  Paddings widths(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    entry(widths, axes[i]) = {pads[i], pads[axes.size() + i]};
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

// Negative pads cut off elements first.
void lower_pad(Node& node) {
  XlaOp x = node.operand(0);
  Paddings widths = pad_widths(node);
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") {
    Dimensions padded = node.sizes(0);
    for (std::size_t i = 0; i < padded.size(); ++i) padded[i] += widths[i].first + widths[i].second;
    node.check_sizes(padded);
    return node.set(pad(x, pad_value(node), widths));
  }
  for (std::int64_t axis = 0; axis < node.rank(0); ++axis) {
    auto& [before, after] = entry(widths, axis);
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
    const auto places = mapped(counted(before + size + after, -before), [&](std::int64_t at) {
      return mirrored_place(node, mode, at, size);
    });
    x = take_places(node, x, axis, places);
  }
  node.set(x);
}

// Cuts or pads both ends equally to a shape; the far end by one more if the change is odd.
void lower_center_crop_pad(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto shape = node.known_sizes(1);
  const Dimensions axes = node.axes_attribute(std::ssize(sizes));
  if (axes.size() != shape.size()) node.refuse("needs one size for each axis");
  Paddings widths(sizes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t change = shape[i] - entry(sizes, axes[i]);
    entry(widths, axes[i]) = {change / 2, change - change / 2};
  }
  node.set(pad(node.operand(0), scalar(node, node.type(0), 0), widths));
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

// Combines each element with all before it, in log2(size) operations on whole tensors.
template <XlaOp (*kCombine)(XlaOp, XlaOp, absl::Span<const std::int64_t>)>
void set_accumulated(Node& node, double neutral) {
  XlaOp x = node.operand(0);
  const Dimensions sizes = node.sizes(0);
  const auto axes = node.known_integers(1);
  if (axes.size() != 1) node.refuse("needs one axis");
  const std::int64_t axis = node.axis(axes.front(), std::ssize(sizes));
  const std::int64_t size = entry(sizes, axis);
  const std::int64_t way = node.flag("reverse") ? -1 : 1;
  // Shifts all elements along the axis and fills up with the neutral element.
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

// Results up to this size, such as shapes, are computed at compile time if the operands are known.
constexpr std::int64_t kMostOfKnownScatter = 4096;

// Indices of one dimension, counted from 0, if they are known.
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
    return node.set(xla::Reshape(take_places(node, x, axis, *places, wanted), result));
  }
  const Dimensions kept = other_dimensions(std::ssize(result), counted(rank, axis));
  node.set(gather(node, x, counted_from_start(node, node.operand(1), size), {{axis}, kept, rank}));
}

// Full indices of elements whose index along `axis` is given by `along`, and whose other indices
// are their own.
XlaOp whole_places(const Node& node, XlaOp along, std::int64_t axis) {
  const Dimensions sizes = node.sizes_of(along);
  const auto rank = std::ssize(sizes);
  const auto parts = mapped(counted(rank), [&](std::int64_t i) {
    return i == axis ? along : index_along(node, node.type_of(along), sizes, i);
  });
  return stack(node, parts, rank);
}

// Full indices for operand 1, which holds indices along `axis`. Refuses other dimensions beyond the
// operand's.
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
  node.set(gather(node, node.operand(0), element_places(node, axis), {counted(rank), {}, rank}));
}

// Tuples of indices counted from 0, for dimensions from `first` on.
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
  auto parts = mapped(counted(batch), [&](std::int64_t i) {
    return index_along(node, node.type(1), with_size(wanted, rank - 1, 1), i);
  });
  parts.push_back(tuple_places(node, batch));
  const XlaOp places = xla::ConcatInDim(&node.builder(), parts, rank - 1);
  const std::int64_t indexed = batch + wanted.back();
  const Dimensions result =
      joined({absl::MakeConstSpan(wanted).first(wanted.size() - 1),
              absl::MakeConstSpan(sizes).subspan(static_cast<std::size_t>(indexed))});
  if (product(result) == 0) return node.set(zeros_of(node, node.type(0), result));
  node.set(gather(node, node.operand(0), places,
                  {counted(indexed), counted(std::ssize(result) - rank + 1, rank - 1), rank - 1}));
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

// XLA does not treat scatters as constant, but models compute shapes by them.
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

// `form`: as of the gather that would read the updates. The last update of a place wins.
void set_scatter(Node& node, XlaOp places, XlaOp updates, const GatherForm& form) {
  const auto numbers = xla::HloScatterInstruction::MakeScatterDimNumbers(form.kept, form.indexed,
                                                                         form.indexed, form.tuple);
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
  set_scatter(node, element_places(node, axis), node.operand(2), {counted(rank), {}, rank});
}

void lower_scatter_nd(Node& node) {
  const XlaOp places = tuple_places(node, 0);
  const Dimensions wanted = node.sizes(1);
  const auto rank = std::ssize(wanted);
  set_scatter(
      node, places, node.operand(2),
      {counted(wanted.back()), other_dimensions(node.rank(2), counted(rank - 1)), rank - 1});
}

// Writes an update into a cache: at its start, or at a place for each row of the batch.
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
              {{0, axis}, other_dimensions(rank, {0, axis}), 2});
}

// Reverses the first elements of each row of the batch; the second operand has their number.
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
                  {axes, other_dimensions(std::ssize(sizes), axes), 2}));
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

// Orders of a sort. NaN is larger than all numbers.
XlaOp is_larger(XlaOp a, XlaOp b, absl::Span<const std::int64_t> /*no broadcast*/) {
  const XlaOp larger = a > b;
  return is_real(element_type_of(a)) ? larger | ((a != a) & (b == b)) : larger;
}
XlaOp is_smaller(XlaOp a, XlaOp b, absl::Span<const std::int64_t> /*no broadcast*/) {
  const XlaOp smaller = a < b;
  return is_real(element_type_of(a)) ? smaller | ((b != b) & (a == a)) : smaller;
}

// The place of the largest or smallest element, the first one of equals.
XlaOp extreme_place(const Node& node, XlaOp x, std::int64_t axis, bool largest) {
  if (entry(node.sizes_of(x), axis) == 0) node.refuse("looks for an element where there are none");
  return xla::ArgMinMax(x, xla::S32, static_cast<int>(axis), !largest);
}

// A reduction instead of a sort.
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
  const std::int64_t order = largest ? kernels::kTopKDescending : kernels::kTopKAscending;
  const XlaOp found = named(node, "top_k", {axis, count, order}, node.operand(0), [&](XlaOp x) {
    xla::XlaBuilder* const builder = x.builder();
    const auto comparator = xla::CreateScalarComparisonComputation(
        "before", {type, xla::S32}, {largest ? is_larger : is_smaller, {}}, builder);
    const XlaOp places = xla::Iota(builder, shape_of(xla::S32, sizes), axis);
    const XlaOp sorted = xla::Sort({x, places}, comparator, axis, /*is_stable=*/true);
    const auto first = [&](std::int64_t which) {
      return xla::SliceInDim(xla::GetTupleElement(sorted, which), 0, count, 1, axis);
    };
    return xla::Tuple(builder, {first(0), first(1)});
  });
  node.set(0, xla::GetTupleElement(found, 0));
  node.set(1, cast(xla::GetTupleElement(found, 1), xla::S64));
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
  const xla::Shape shape = shape_of(xla::F64, sizes);
  std::vector<xla::DimensionVector> found;
  for (std::int64_t i = 0; i < std::ssize(elements); ++i) {
    if (entry(elements, i) == 0) continue;
    found.push_back(xla::IndexUtil::LinearIndexToMultidimensionalIndex(shape, i));
  }
  xla::Literal places(shape_of(xla::S64, {shape.rank(), std::ssize(found)}));
  places
      .Populate<std::int64_t>([&](absl::Span<const std::int64_t> at) -> std::int64_t {
        return entry(entry(found, at[1]), at[0]);
      })
      .IgnoreError();
  node.set(xla::ConstantLiteral(&node.builder(), places));
}

// The operand and the axis; flattened if the node has none.
std::pair<XlaOp, std::int64_t> along_axis(const Node& node) {
  const XlaOp x = node.operand(0);
  if (!node.has_attribute("axis")) return {xla::Reshape(x, {product(node.sizes(0))}), 0};
  return {x, node.axis(node.integer("axis"), node.rank(0))};
}

void lower_compress(Node& node) {
  const auto [x, axis] = along_axis(node);
  const auto condition = node.known_integers(1);
  Dimensions places = counted(std::ssize(condition));
  std::erase_if(places, [&](std::int64_t i) { return entry(condition, i) == 0; });
  node.set(take_places(node, x, axis, places));
}

struct UniqueParts {
  std::vector<std::int64_t> first;    // where each of them occurs first
  std::vector<std::int64_t> inverse;  // for each part, which of them it is
  std::vector<std::int64_t> counts;
};

// `parts`: the slices that are compared, in the operand's order.
template <typename T>
UniqueParts unique_parts(const std::vector<std::vector<T>>& parts, bool sorted) {
  std::map<std::vector<T>, std::vector<std::int64_t>> where;
  for (std::int64_t i = 0; i < std::ssize(parts); ++i) {
    where[entry(parts, i)].push_back(i);
  }
  auto groups = mapped(where, [](const auto& group) { return &group.second; });
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

// The slices of the literal along the axis.
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

std::vector<OnnxOperator> shape_operators() {
  return {
      {"ArgMax", 1, lower_arg_extreme<true>},
      {"ArgMin", 1, lower_arg_extreme<false>},
      {"BitCast", 26, lower_bit_cast},
      {"CenterCropPad", 18, lower_center_crop_pad, {.known = {1}}},
      {"Compress", 9, lower_compress, {.known = {1}}},
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
      {"Gather", 1, lower_gather, {.better_known = {1}}},
      {"GatherElements", 11, lower_gather_elements, {.better_known = {1}}},
      {"GatherND", 11, lower_gather_nd, {.better_known = {1}}},
      {"Identity", 1, lower_identity},
      {"NonZero", 9, lower_non_zero, {.known = {0}}},
      {"OneHot", 9, lower_one_hot, {.known = {1}}},
      {"Pad", 2, lower_pad, {.known = {1, 3}}},
      {"Range", 11, lower_range, {.known = {0, 1, 2}}},
      {"Reshape", 5, lower_reshape, {.known = {1}}},
      {"ReverseSequence", 10, lower_reverse_sequence, {.better_known = {1}}},
      {"Scatter", 9, lower_scatter_elements, {.better_known = {1}}},
      {"ScatterElements", 11, lower_scatter_elements, {.better_known = {1}}},
      {"ScatterND", 11, lower_scatter_nd, {.better_known = {1}}},
      {"Shape", 1, lower_shape},
      {"Size", 1, lower_size},
      {"Slice", 1, lower_slice, {.known = {1, 2, 3, 4}}},
      {"SpaceToDepth", 1, lower_space_to_depth},
      {"Split", 2, lower_split, {.known = {1}}},
      {"Squeeze", 1, lower_squeeze, {.known = {1}}},
      {"TensorScatter", 24, lower_tensor_scatter},
      {"Tile", 6, lower_tile, {.known = {1}}},
      {"TopK", 1, lower_top_k, {.known = {1}}},
      {"Transpose", 1, lower_transpose},
      {"Trilu", 14, lower_trilu, {.better_known = {1}}},
      {"Unique", 11, lower_unique, {.known = {0}}},
      {"Unsqueeze", 1, lower_unsqueeze, {.known = {1}}},
  };
}

}  // namespace tfaot::toolkit::engine
