// SPDX-License-Identifier: Apache-2.0
// Operators on images with places that are computed, and images put together from blocks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/sampling.h"
#include "onnx/operators/spatial.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

SampleRules grid_rules(const Node& node) {
  SampleRules rules;
  const std::string mode = node.text("mode", "linear");
  if (mode == "nearest") {
    rules.kernel = SampleKernel::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    rules.kernel = SampleKernel::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    node.refuse(fmt::format("has the mode '{}'", mode));
  }
  const std::string padding = node.text("padding_mode", "zeros");
  if (padding == "border") {
    rules.padding = SamplePadding::kBorder;
  } else if (padding == "reflection") {
    rules.padding = SamplePadding::kReflection;
  } else if (padding != "zeros") {
    node.refuse(fmt::format("has the padding_mode '{}'", padding));
  }
  rules.reflects_at_centers = node.integer("align_corners", 0) != 0;
  return rules;
}

XlaOp image_numbers(const Node& node, const Dimensions& sizes) {
  return xla::Iota(&node.builder(), shape_of(xla::S32, sizes), 0);
}

// The grid has places from -1 to 1, the last dimension of the image first.
void lower_grid_sample(Node& node) {
  const Dimensions in = spatial_sizes(node, 0);
  const auto rank = std::ssize(in);
  const Dimensions grid = node.sizes(1);
  if (std::ssize(grid) != rank + 2 || grid.back() != rank || grid[0] != node.sizes(0)[0]) {
    node.refuse("has a grid that does not match its operand");
  }
  const SampleRules rules = grid_rules(node);
  const std::int64_t points = product(grid) / grid[0] / rank;
  const XlaOp flat = xla::Reshape(node.operand(1), {grid[0], points, rank});
  SamplePlaces places{image_numbers(node, {grid[0], points}), {}};
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t from = rank - 1 - d;
    const XlaOp own = xla::Reshape(xla::SliceInDim(flat, from, from + 1, 1, 2), {grid[0], points});
    const auto number = [&](double value) { return scalar_like(node, own, value); };
    const auto size = static_cast<double>(in[static_cast<std::size_t>(d)]);
    const XlaOp from_zero = xla::Add(own, number(1));
    places.spatial.push_back(
        rules.reflects_at_centers
            ? xla::Mul(xla::Div(from_zero, number(2)), number(size - 1))
            : xla::Div(xla::Sub(xla::Mul(from_zero, number(size)), number(1)), number(2)));
  }
  const XlaOp images = channels_last(node, node.operand(0));
  Dimensions sizes(grid.begin(), grid.end() - 1);
  sizes.push_back(node.sizes(0)[1]);
  node.set(channels_first(node, xla::Reshape(sample(node, images, places, rules), sizes)));
}

// The places of `count` elements from -1 to 1: their centers, or with the outer ones at the ends.
std::vector<double> even_places(std::int64_t count, bool at_ends) {
  std::vector<double> places;
  const auto n = static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(i);
    const double at_end = count == 1 ? 0 : -1 + 2 * x / (n - 1);
    places.push_back(at_ends ? at_end : -1 + (2 * x + 1) / n);
  }
  return places;
}

void lower_affine_grid(Node& node) {
  const Dimensions sizes = node.known_sizes(1);
  if (sizes.size() != 4 && sizes.size() != 5) node.refuse("needs the sizes of a 2-D or 3-D image");
  const bool at_ends = node.integer("align_corners", 0) != 0;
  const auto type = node.type(0);
  const Dimensions spatial(sizes.begin() + 2, sizes.end());
  const auto rank = std::ssize(spatial);
  if (node.sizes(0) != Dimensions{sizes[0], rank, rank + 1}) {
    node.refuse("has a theta that does not match its size");
  }
  // [spatial..., x, y, (z,) 1]
  Dimensions with_last = spatial;
  with_last.push_back(1);
  std::vector<XlaOp> parts;
  for (std::int64_t d = rank - 1; d >= 0; --d) {
    const auto own = even_places(spatial[static_cast<std::size_t>(d)], at_ends);
    const XlaOp known =
        xla::ConvertElementType(xla::ConstantR1<double>(&node.builder(), own), type);
    parts.push_back(xla::BroadcastInDim(known, with_last, {d}));
  }
  parts.push_back(xla::Broadcast(scalar(node, type, 1), with_last));
  const std::int64_t points = product(spatial);
  const XlaOp base =
      xla::Reshape(xla::ConcatInDim(&node.builder(), parts, rank), {points, rank + 1});
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(2);
  numbers.add_rhs_contracting_dimensions(1);
  const XlaOp grid = xla::Transpose(xla::DotGeneral(node.operand(0), base, numbers), {0, 2, 1});
  Dimensions made = {sizes[0]};
  made.insert(made.end(), spatial.begin(), spatial.end());
  made.push_back(rank);
  node.set(xla::Reshape(grid, made));
}

// Sums blocks where they overlap. Operands: [batch, channels * block, blocks], the image's sizes,
// the block's sizes.
void lower_col2im(Node& node) {
  const Dimensions image = node.known_sizes(1);
  const Dimensions block = node.known_sizes(2);
  const Dimensions sizes = node.sizes(0);
  if (image.size() != block.size() || sizes.size() != 3) node.refuse("has operands of wrong ranks");
  const auto rank = std::ssize(image);
  const auto numbers_of = [&](const char* name, std::int64_t count, std::int64_t otherwise) {
    auto given = node.integers(name).value_or(Dimensions());
    if (given.empty()) given.assign(static_cast<std::size_t>(count), otherwise);
    if (std::ssize(given) != count) node.refuse(fmt::format("has a wrong number of {}", name));
    return given;
  };
  const Dimensions dilations = numbers_of("dilations", rank, 1);
  const Dimensions strides = numbers_of("strides", rank, 1);
  const Dimensions pads = numbers_of("pads", 2 * rank, 0);
  const std::int64_t elements = product(block);
  Dimensions cut = {sizes[0], sizes[1] / elements, elements};
  for (std::size_t d = 0; d < image.size(); ++d) {
    const std::int64_t room = image[d] + pads[d] + pads[d + image.size()];
    cut.push_back((room - dilations[d] * (block[d] - 1) - 1) / strides[d] + 1);
  }
  if (sizes[1] % elements != 0 || product(cut) != product(sizes)) {
    node.refuse("has blocks that do not match the image");
  }
  const XlaOp columns = xla::Reshape(node.operand(0), cut);
  Dimensions one = cut;
  one.erase(one.begin() + 2);
  std::optional<XlaOp> sum;
  for (std::int64_t k = 0; k < elements; ++k) {
    auto padding = xla::MakeNoPaddingConfig(rank + 2);
    std::int64_t rest = k;
    for (std::int64_t i = rank - 1; i >= 0; --i) {
      const auto d = static_cast<std::size_t>(i);
      const std::int64_t low = rest % block[d] * dilations[d] - pads[d];
      rest /= block[d];
      auto& own = *padding.mutable_dimensions(static_cast<int>(i + 2));
      own.set_interior_padding(strides[d] - 1);
      own.set_edge_padding_low(low);
      own.set_edge_padding_high(image[d] - low - (one[d + 2] - 1) * strides[d] - 1);
    }
    const XlaOp part = xla::Reshape(xla::SliceInDim(columns, k, k + 1, 1, 2), one);
    const XlaOp placed = xla::Pad(part, xla::Zero(&node.builder(), node.type(0)), padding);
    sum = sum ? xla::Add(*sum, placed) : placed;
  }
  if (!sum) node.refuse("has blocks without elements");
  node.set(*sum);
}

// Where samples of a region lie along one dimension: [regions, cells * samples].
XlaOp region_places(const Node& node, XlaOp begin, XlaOp size, std::int64_t cells,
                    std::int64_t samples) {
  const std::int64_t count = cells * samples;
  const Dimensions sizes = {node.sizes_of(begin)[0], count};
  std::vector<double> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    parts.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(count));
  }
  const XlaOp known =
      xla::ConvertElementType(xla::ConstantR1<double>(&node.builder(), parts), node.type_of(begin));
  return xla::Add(
      xla::BroadcastInDim(begin, sizes, {0}),
      xla::Mul(xla::BroadcastInDim(size, sizes, {0}), xla::BroadcastInDim(known, sizes, {1})));
}

// One of the two elements beside each place, with its weight; both 0 far outside.
struct RegionTap {
  XlaOp place;
  XlaOp weight;
};
std::vector<RegionTap> region_taps(const Node& node, XlaOp place, std::int64_t size) {
  const auto number = [&](double value) { return scalar_like(node, place, value); };
  const auto most = static_cast<double>(size - 1);
  const XlaOp is_near = xla::And(xla::Ge(place, number(-1)), xla::Le(place, number(most + 1)));
  const XlaOp inside = xla::Clamp(number(0), place, number(most));
  const XlaOp left = xla::Floor(inside);
  const XlaOp part = xla::Sub(inside, left);
  const auto tap = [&](XlaOp at, XlaOp weight) {
    return RegionTap{xla::ConvertElementType(at, xla::S32),
                     xla::Select(is_near, weight, xla::ZerosLike(weight))};
  };
  return {tap(left, xla::Sub(number(1), part)),
          tap(xla::Min(xla::Add(left, number(1)), number(most)), part)};
}

// Operands: images, regions as [x, y, end x, end y], the image of each region.
void lower_roi_align(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t samples = node.integer("sampling_ratio", 0);
  if (sizes.size() != 4 || node.rank(1) != 2) node.refuse("needs images and regions");
  if (samples < 1) {
    node.refuse("has sampling_ratio 0: the number of samples would depend on the regions");
  }
  const std::int64_t regions = node.sizes(1)[0];
  const std::int64_t rows = node.integer("output_height", 1);
  const std::int64_t columns = node.integer("output_width", 1);
  const std::string otherwise = node.opset() < 16 ? "output_half_pixel" : "half_pixel";
  const bool half = node.text("coordinate_transformation_mode", otherwise) == "half_pixel";
  const XlaOp boxes = xla::Sub(
      xla::Mul(node.operand(1), scalar_like(node, node.operand(1), node.real("spatial_scale", 1))),
      scalar_like(node, node.operand(1), half ? 0.5 : 0));
  const auto edge = [&](std::int64_t which) {
    return xla::Reshape(xla::SliceInDim(boxes, which, which + 1, 1, 1), {regions});
  };
  const auto places = [&](std::int64_t which, std::int64_t cells) {
    XlaOp size = xla::Sub(edge(which + 2), edge(which));
    if (!half) size = xla::Max(size, scalar_like(node, size, 1));
    return region_places(node, edge(which), size, cells, samples);
  };
  const Dimensions grid = {regions, rows * samples, columns * samples};
  const Dimensions flat = {regions, grid[1] * grid[2]};
  const auto spread = [&](XlaOp op, std::int64_t dimension) {
    return xla::Reshape(xla::BroadcastInDim(op, grid, {0, dimension}), flat);
  };
  const XlaOp images = channels_last(node, node.operand(0));
  const XlaOp numbers =
      xla::BroadcastInDim(xla::ConvertElementType(node.operand(2), xla::S32), flat, {0});
  const bool is_max = node.text("mode", "avg") == "max";
  std::optional<XlaOp> all;
  for (const RegionTap& y : region_taps(node, places(1, rows), sizes[2])) {
    for (const RegionTap& x : region_taps(node, places(0, columns), sizes[3])) {
      const XlaOp values =
          elements_at(node, images, {numbers, {spread(y.place, 1), spread(x.place, 2)}});
      const XlaOp weight = xla::Mul(spread(y.weight, 1), spread(x.weight, 2));
      const XlaOp part =
          xla::Mul(values, xla::BroadcastInDim(weight, node.sizes_of(values), {0, 1}));
      all = !all ? part : is_max ? xla::Max(*all, part) : xla::Add(*all, part);
    }
  }
  const XlaOp cells = xla::Reshape(*all, {regions, rows, samples, columns, samples, sizes[1]});
  const auto type = node.type(0);
  xla::XlaBuilder& builder = node.builder();
  XlaOp made = is_max ? xla::Reduce(cells, xla::MinValue(&builder, type),
                                    xla::CreateScalarMaxComputation(type, &builder), {2, 4})
                      : xla::Reduce(cells, xla::Zero(&builder, type),
                                    xla::CreateScalarAddComputation(type, &builder), {2, 4});
  if (!is_max) made = xla::Div(made, scalar(node, type, static_cast<double>(samples * samples)));
  node.set(channels_first(node, made));
}

// For one group of channels: what the filter sees, [batch, window * points, channels].
XlaOp deformed_patches(const Node& node, XlaOp images, XlaOp offsets, const SpatialWindow& window) {
  // offsets: [batch, rows of the window, columns, 2, rows of the result, columns]
  const Dimensions sizes = node.sizes_of(offsets);
  Dimensions one = sizes;
  one.erase(one.begin() + 3);
  const Dimensions flat = {one[0], product(one) / one[0]};
  SamplePlaces places{image_numbers(node, flat), {}};
  const auto type = node.type_of(offsets);
  for (std::int64_t d = 0; d < 2; ++d) {
    const auto own = static_cast<std::size_t>(d);
    const auto index = [&](std::int64_t dimension, std::int64_t step) {
      const XlaOp steps = xla::Iota(&node.builder(), shape_of(type, one), dimension);
      return xla::Mul(steps, scalar(node, type, static_cast<double>(step)));
    };
    XlaOp place = xla::Reshape(xla::SliceInDim(offsets, d, d + 1, 1, 3), one);
    place = xla::Add(place, index(1 + d, window.dilation[own]));
    place = xla::Add(place, index(3 + d, window.stride[own]));
    place = xla::Sub(place, scalar(node, type, static_cast<double>(window.low[own])));
    places.spatial.push_back(xla::Reshape(place, flat));
  }
  return sample(node, images, places, {});
}

// A convolution whose filter looks at computed places. Operands: x, filter, offsets, bias, mask.
void lower_deform_conv(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions filter = node.sizes(1);
  if (sizes.size() != 4 || filter.size() != 4) node.refuse("needs images of two dimensions");
  const SpatialWindow window = spatial_window(node, spatial_sizes(node, 0), {filter[2], filter[3]});
  const std::int64_t groups = node.integer("group", 1);
  const std::int64_t parts = node.integer("offset_group", 1);
  const Dimensions offset_sizes = node.sizes(2);
  const std::int64_t taps = filter[2] * filter[3];
  if (offset_sizes.size() != 4 || parts < 1 || offset_sizes[1] != parts * taps * 2 ||
      sizes[1] % parts != 0 || groups < 1 || filter[1] * groups != sizes[1] ||
      filter[0] % groups != 0) {
    node.refuse("has offsets or a filter that do not match its operand");
  }
  const std::int64_t rows = offset_sizes[2];
  const std::int64_t columns = offset_sizes[3];
  const XlaOp images = channels_last(node, node.operand(0));
  const XlaOp offsets =
      xla::Reshape(node.operand(2), {sizes[0], parts, filter[2], filter[3], 2, rows, columns});
  std::vector<XlaOp> patches;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t channels = sizes[1] / parts;
    const XlaOp own = xla::SliceInDim(images, part * channels, (part + 1) * channels, 1, 3);
    const XlaOp moved = xla::Reshape(xla::SliceInDim(offsets, part, part + 1, 1, 1),
                                     {sizes[0], filter[2], filter[3], 2, rows, columns});
    XlaOp seen = deformed_patches(node, own, moved, window);
    if (node.has(4)) {
      const XlaOp mask = xla::SliceInDim(node.operand(4), part * taps, (part + 1) * taps, 1, 1);
      const XlaOp flat = xla::Reshape(mask, {sizes[0], taps * rows * columns});
      seen = xla::Mul(seen, xla::BroadcastInDim(flat, node.sizes_of(seen), {0, 1}));
    }
    patches.push_back(seen);
  }
  const XlaOp seen = xla::Reshape(xla::ConcatInDim(&node.builder(), patches, 2),
                                  {sizes[0], taps, rows, columns, groups, filter[1]});
  const XlaOp matrices =
      xla::Reshape(node.operand(1), {groups, filter[0] / groups, filter[1], taps});
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_batch_dimensions(4);
  numbers.add_rhs_batch_dimensions(0);
  numbers.add_lhs_contracting_dimensions(1);
  numbers.add_lhs_contracting_dimensions(5);
  numbers.add_rhs_contracting_dimensions(3);
  numbers.add_rhs_contracting_dimensions(2);
  const XlaOp made = xla::Transpose(xla::DotGeneral(seen, matrices, numbers), {1, 0, 4, 2, 3});
  const Dimensions result = {sizes[0], filter[0], rows, columns};
  XlaOp sum = xla::Reshape(made, result);
  if (node.has(3)) sum = xla::Add(sum, per_channel(node, node.operand(3), result));
  node.set(sum);
}

}  // namespace

std::vector<OnnxOperator> image_operators() {
  return {
      {"AffineGrid", 20, lower_affine_grid, {1}}, {"Col2Im", 18, lower_col2im, {1, 2}},
      {"DeformConv", 19, lower_deform_conv},      {"GridSample", 16, lower_grid_sample},
      {"RoiAlign", 10, lower_roi_align},
  };
}

}  // namespace tfaot::toolkit::engine
