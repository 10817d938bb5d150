// SPDX-License-Identifier: Apache-2.0
// Pools: a value for each window, or for all of a channel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/spatial.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// How a window moves over a spatial dimension. With ceil_mode the last one may reach behind the
// padding, but does not start there.
struct PoolWindow {
  SpatialWindow window;   // with what the last one sees behind the padding as padding
  Dimensions in;          // sizes of the operand
  Dimensions padded_end;  // the first place behind the padding, counted from the operand's start
  Dimensions out;
};

PoolWindow pool_window(const Node& node) {
  PoolWindow pool;
  pool.in = spatial_sizes(node, 0);
  pool.window = spatial_window(node, pool.in);
  const bool is_ceil = node.integer("ceil_mode", 0) != 0;
  for (std::size_t d = 0; d < pool.in.size(); ++d) {
    const auto& window = pool.window;
    const std::int64_t stride = window.stride[d];
    const std::int64_t room = pool.in[d] + window.low[d] + window.high[d] - window.extent(d);
    pool.padded_end.push_back(pool.in[d] + window.high[d]);
    if (room < 0) node.refuse("has a window that is larger than its padded operand");
    std::int64_t out = (is_ceil ? room + stride - 1 : room) / stride + 1;
    if (is_ceil && (out - 1) * stride >= pool.in[d] + window.low[d]) --out;
    pool.out.push_back(out);
    const std::int64_t needed = (out - 1) * stride + window.extent(d) - pool.in[d] - window.low[d];
    pool.window.high[d] = std::max(window.high[d], needed);
  }
  return pool;
}

// A number for each dimension of a tensor: the spatial ones get theirs.
Dimensions around_spatial(const Dimensions& spatial, std::size_t first, std::int64_t others) {
  Dimensions all(spatial.size() + 2, others);
  std::ranges::copy(spatial, all.begin() + static_cast<std::ptrdiff_t>(first));
  return all;
}

std::vector<std::pair<std::int64_t, std::int64_t>> pool_paddings(const SpatialWindow& window,
                                                                 std::size_t first) {
  std::vector<std::pair<std::int64_t, std::int64_t>> paddings(window.rank() + 2);
  for (std::size_t d = 0; d < window.rank(); ++d) {
    paddings[first + d] = {window.low[d], window.high[d]};
  }
  return paddings;
}

// Of a tensor with channels last.
XlaOp reduce_windows(const SpatialWindow& window, XlaOp x, XlaOp start,
                     const xla::XlaComputation& computation) {
  return xla::ReduceWindowWithGeneralPadding(
      x, start, computation, around_spatial(window.size, 1, 1), around_spatial(window.stride, 1, 1),
      {}, around_spatial(window.dilation, 1, 1), pool_paddings(window, 1));
}

XlaOp sum_windows(const Node& node, const SpatialWindow& window, XlaOp x) {
  const auto type = node.type_of(x);
  return reduce_windows(window, x, xla::Zero(&node.builder(), type),
                        xla::CreateScalarAddComputation(type, &node.builder()));
}

// The larger value of two with their places; of equal ones the one that comes first.
xla::XlaComputation larger_with_place(const Node& node, xla::PrimitiveType type) {
  const auto builder = node.builder().CreateSubBuilder("larger_with_place");
  const auto parameter = [&](std::int64_t number, xla::PrimitiveType of, const char* name) {
    return xla::Parameter(builder.get(), number, shape_of(of, {}), name);
  };
  const XlaOp a = parameter(0, type, "a");
  const XlaOp place_a = parameter(1, xla::S64, "place_a");
  const XlaOp b = parameter(2, type, "b");
  const XlaOp place_b = parameter(3, xla::S64, "place_b");
  const XlaOp first = xla::Or(xla::Gt(a, b), xla::And(xla::Eq(a, b), xla::Lt(place_a, place_b)));
  xla::Tuple(builder.get(), {xla::Select(first, a, b), xla::Select(first, place_a, place_b)});
  return builder->BuildAndNoteError();
}

// By element: its place among all of the tensor's. storage_order 1: spatial dimensions are counted
// from the first on.
XlaOp places_of(const Node& node, const Dimensions& sizes) {
  const bool is_column_major = node.integer("storage_order", 0) != 0;
  Dimensions steps(sizes.size(), 1);
  if (is_column_major) {
    for (std::size_t d = 3; d < sizes.size(); ++d) steps[d] = steps[d - 1] * sizes[d - 1];
    steps[1] = steps.back() * sizes.back();
    steps[0] = steps[1] * sizes[1];
  } else {
    for (std::size_t d = sizes.size() - 1; d > 0; --d) steps[d - 1] = steps[d] * sizes[d];
  }
  XlaOp places = xla::Zeros(&node.builder(), shape_of(xla::S64, sizes));
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const XlaOp index =
        xla::Iota(&node.builder(), shape_of(xla::S64, sizes), static_cast<std::int64_t>(d));
    places =
        xla::Add(places, xla::Mul(index, scalar(node, xla::S64, static_cast<double>(steps[d]))));
  }
  return places;
}

void lower_max_pool(Node& node) {
  const SpatialWindow window = pool_window(node).window;
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const XlaOp least = xla::MinValue(&node.builder(), type);
  node.set(0, channels_first(
                  node, reduce_windows(window, channels_last(node, x), least,
                                       xla::CreateScalarMaxComputation(type, &node.builder()))));
  if (!node.wants(1)) return;
  const XlaOp behind = scalar(node, xla::S64, static_cast<double>(product(node.sizes(0))));
  const XlaOp places = places_of(node, node.sizes(0));
  const XlaOp both = xla::ReduceWindowWithGeneralPadding(
      {x, places}, {least, behind}, larger_with_place(node, type),
      around_spatial(window.size, 2, 1), around_spatial(window.stride, 2, 1), {},
      around_spatial(window.dilation, 2, 1), pool_paddings(window, 2));
  node.set(1, xla::GetTupleElement(both, 1));
}

// How many of a window's elements count, by place of the window along one dimension.
std::vector<std::int64_t> counted_elements(const PoolWindow& pool, std::size_t d,
                                           bool with_padding) {
  std::vector<std::int64_t> counts;
  const std::int64_t begin = with_padding ? -pool.window.low[d] : 0;
  const std::int64_t end = with_padding ? pool.padded_end[d] : pool.in[d];
  for (std::int64_t i = 0; i < pool.out[d]; ++i) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < pool.window.size[d]; ++k) {
      const std::int64_t at =
          i * pool.window.stride[d] - pool.window.low[d] + k * pool.window.dilation[d];
      if (at >= begin && at < end) ++count;
    }
    counts.push_back(count);
  }
  return counts;
}

// `sizes`: with channels last.
XlaOp window_counts(const Node& node, const PoolWindow& pool, const Dimensions& sizes,
                    xla::PrimitiveType type) {
  const bool with_padding = node.integer("count_include_pad", 0) != 0;
  std::int64_t common = 1;
  std::optional<XlaOp> differing;
  for (std::size_t d = 0; d < pool.in.size(); ++d) {
    const auto counts = counted_elements(pool, d, with_padding);
    if (std::ranges::all_of(counts, [&](std::int64_t one) { return one == counts.front(); })) {
      common *= counts.empty() ? 1 : counts.front();
      continue;
    }
    const XlaOp own = xla::ConvertElementType(constant_integers(node, counts), type);
    const XlaOp spread = xla::BroadcastInDim(own, sizes, {static_cast<std::int64_t>(d) + 1});
    differing = differing ? xla::Mul(*differing, spread) : spread;
  }
  const XlaOp count = scalar(node, type, static_cast<double>(common));
  return differing ? xla::Mul(*differing, count) : count;
}

void lower_average_pool(Node& node) {
  const PoolWindow pool = pool_window(node);
  const XlaOp sums = sum_windows(node, pool.window, channels_last(node, node.operand(0)));
  const XlaOp counts = window_counts(node, pool, node.sizes_of(sums), node.type(0));
  node.set(channels_first(node, xla::Div(sums, counts)));
}

// |x|^p and its inverse.
XlaOp norm_power(const Node& node, XlaOp x, double p) {
  if (p == 1) return xla::Abs(x);
  if (p == 2) return xla::Mul(x, x);
  return xla::Pow(xla::Abs(x), scalar_like(node, x, p));
}
XlaOp norm_root(const Node& node, XlaOp x, double p) {
  if (p == 1) return x;
  if (p == 2) return xla::Sqrt(x);
  return xla::Pow(x, scalar_like(node, x, 1 / p));
}

double norm_exponent(const Node& node) {
  const auto p = static_cast<double>(node.integer("p", 2));
  if (p < 1) node.refuse("has a p below 1");
  return p;
}

void lower_lp_pool(Node& node) {
  const PoolWindow pool = pool_window(node);
  const double p = norm_exponent(node);
  const XlaOp x = channels_last(node, node.operand(0));
  const XlaOp sums = sum_windows(node, pool.window, norm_power(node, x, p));
  node.set(channels_first(node, norm_root(node, sums, p)));
}

// One value per channel: all dimensions after it become 1.
XlaOp reduce_channels(const Node& node, XlaOp x, XlaOp start,
                      const xla::XlaComputation& computation) {
  Dimensions sizes = node.sizes(0);
  Dimensions reduced(spatial_sizes(node, 0).size());
  std::iota(reduced.begin(), reduced.end(), 2);
  std::fill(sizes.begin() + 2, sizes.end(), 1);
  return xla::Reshape(xla::Reduce(x, start, computation, reduced), sizes);
}

XlaOp sum_channels(const Node& node, XlaOp x) {
  const auto type = node.type_of(x);
  return reduce_channels(node, x, xla::Zero(&node.builder(), type),
                         xla::CreateScalarAddComputation(type, &node.builder()));
}

void lower_global_average_pool(Node& node) {
  const XlaOp sums = sum_channels(node, node.operand(0));
  const auto count = static_cast<double>(product(spatial_sizes(node, 0)));
  node.set(xla::Div(sums, scalar_like(node, sums, count)));
}

void lower_global_max_pool(Node& node) {
  const auto type = node.type(0);
  node.set(reduce_channels(node, node.operand(0), xla::MinValue(&node.builder(), type),
                           xla::CreateScalarMaxComputation(type, &node.builder())));
}

void lower_global_lp_pool(Node& node) {
  const double p = norm_exponent(node);
  node.set(norm_root(node, sum_channels(node, norm_power(node, node.operand(0), p)), p));
}

// Puts the elements to the places that MaxPool found; the others are 0.
void lower_max_unpool(Node& node) {
  const Dimensions in = spatial_sizes(node, 0);
  const SpatialWindow window = spatial_window(node, in);
  const Dimensions sizes = node.sizes(0);
  Dimensions made = {sizes[0], sizes[1]};
  for (std::size_t d = 0; d < in.size(); ++d) {
    made.push_back((in[d] - 1) * window.stride[d] - window.low[d] - window.high[d] +
                   window.size[d]);
  }
  const Dimensions wanted = node.has(2) ? node.known_sizes(2) : made;
  if (wanted.size() != made.size()) node.refuse("has an output_shape of another rank");
  node.check_sizes(made);
  const std::int64_t count = product(sizes);
  xla::ScatterDimensionNumbers numbers;
  numbers.add_inserted_window_dims(0);
  numbers.add_scatter_dims_to_operand_dims(0);
  numbers.set_index_vector_dim(1);
  const auto replace = node.builder().CreateSubBuilder("replace");
  xla::Parameter(replace.get(), 0, shape_of(node.type(0), {}), "before");
  xla::Parameter(replace.get(), 1, shape_of(node.type(0), {}), "after");
  const XlaOp zeros = xla::Zeros(&node.builder(), shape_of(node.type(0), {product(made)}));
  const XlaOp flat =
      xla::Scatter(zeros, xla::Reshape(node.operand(1), {count, 1}),
                   xla::Reshape(node.operand(0), {count}), replace->BuildAndNoteError(), numbers);
  auto padding = xla::MakeNoPaddingConfig(std::ssize(made));
  for (std::size_t d = 0; d < made.size(); ++d) {
    padding.mutable_dimensions(static_cast<int>(d))->set_edge_padding_high(wanted[d] - made[d]);
  }
  node.set(xla::Pad(xla::Reshape(flat, made), xla::Zero(&node.builder(), node.type(0)), padding));
}

}  // namespace

std::vector<OnnxOperator> pooling_operators() {
  return {
      {"AveragePool", 1, lower_average_pool},
      {"GlobalAveragePool", 1, lower_global_average_pool},
      {"GlobalLpPool", 2, lower_global_lp_pool},
      {"GlobalMaxPool", 1, lower_global_max_pool},
      {"LpPool", 2, lower_lp_pool},
      {"MaxPool", 1, lower_max_pool},
      {"MaxUnpool", 9, lower_max_unpool, {2}},
  };
}

}  // namespace tfaot::toolkit::engine
