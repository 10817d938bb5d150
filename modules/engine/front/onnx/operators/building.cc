// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/operators/building.h"

#include <fmt/ranges.h>

#include "compiler/kernels/composites.h"

namespace tfaot::toolkit::engine {
namespace {

// Up to opset 6, the attribute 'axis' aligns the second operand with a dimension of the first.
void place_second_operand(const Node& node, std::vector<XlaOp>& operands) {
  if (!node.has_attribute("axis") || operands.size() != 2) return;
  const std::int64_t rank = node.rank(0);
  Dimensions sizes = node.sizes(1);
  const std::int64_t after = rank - node.axis(node.integer("axis"), rank) - std::ssize(sizes);
  if (after < 0) node.refuse("has a second operand that ends behind the first one");
  sizes.insert(sizes.end(), static_cast<std::size_t>(after), 1);
  operands[1] = xla::Reshape(operands[1], sizes);
}

// A gather is cheaper than more slices than this.
constexpr std::size_t kMostSlices = 8;

// Consecutive places with one step between them: 1, -1, or 0 for a repeated place.
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
  return broadcast_to(node, part, with_size(node.sizes_of(x), axis, run.count));
}

// Pads so that the result has ceil(in / stride) elements, with the window centred on the operand.
void pad_to_same(SpatialWindow& window, const Dimensions& in, bool more_at_end) {
  for (std::size_t d = 0; d < window.rank(); ++d) {
    const std::int64_t out = (in[d] + window.stride[d] - 1) / window.stride[d];
    const std::int64_t all =
        std::max<std::int64_t>(0, (out - 1) * window.stride[d] + window.extent(d) - in[d]);
    window.low[d] = more_at_end ? all / 2 : all - all / 2;
    window.high[d] = all - window.low[d];
  }
}

// xla::ScalarLike() does not convert a double to an integer.
XlaOp scalar_of(xla::XlaBuilder& builder, xla::PrimitiveType type, double value) {
  return xla::ConstantLiteral(&builder, *xla::LiteralUtil::CreateR0(value).Convert(type));
}

// kCombine: XLA's functions that build the computation for two scalars.
template <auto kStart, auto kCombine, auto kCombineBooleans = kCombine>
XlaOp reduce(XlaOp x, const Dimensions& axes) {
  const auto type = element_type_of(x);
  auto combine = kCombine;
  if (type == xla::PRED) combine = kCombineBooleans;
  return xla::Reduce(x, kStart(x.builder(), type), combine(type, x.builder()), axes);
}

}  // namespace

xla::PrimitiveType element_type_of(XlaOp x) {
  const auto shape = x.builder()->GetShape(x);
  return shape.ok() ? shape->element_type() : xla::F32;
}
XlaOp scalar(const Node& node, xla::PrimitiveType type, double value) {
  return scalar_of(node.builder(), type, value);
}
XlaOp scalar_like(XlaOp x, double value) {
  const auto shape = x.builder()->GetShape(x);
  if (!shape.ok()) return x.builder()->ReportError(shape.status());
  return scalar_of(*x.builder(), shape->element_type(), value);
}

std::optional<std::vector<std::int64_t>> integers_of(const Node& node, const MovedList& list) {
  if (node.opset() < list.since) return node.optional_integers(list.attribute);
  if (!node.has(list.operand)) return std::nullopt;
  return node.known_integers(list.operand);
}

Dimensions with_size(Dimensions sizes, std::int64_t axis, std::int64_t size) {
  entry(sizes, axis) = size;
  return sizes;
}
Dimensions with_new(Dimensions sizes, std::int64_t axis, std::int64_t size) {
  sizes.insert(sizes.begin() + axis, size);
  return sizes;
}

Dimensions sizes_split_at(const Node& node, std::int64_t axis) {
  const Dimensions sizes = node.sizes(0);
  const auto rank = std::ssize(sizes);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) node.refuse("has an axis that its operand lacks");
  const absl::Span<const std::int64_t> all(sizes);
  const auto split = static_cast<std::size_t>(axis);
  return {product(all.subspan(0, split)), product(all.subspan(split))};
}

Dimensions common_sizes(const Node& node, const std::vector<Dimensions>& all) {
  Dimensions common;
  for (const Dimensions& sizes : all) {
    if (sizes.size() > common.size()) {
      common.insert(common.begin(), sizes.size() - common.size(), 1);
    }
    const std::size_t first = common.size() - sizes.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& size = common[first + i];
      if (size == sizes[i] || sizes[i] == 1) continue;
      if (size != 1)
        node.refuse("has operands of sizes [{}] that do not broadcast", fmt::join(sizes, ", "));
      size = sizes[i];
    }
  }
  node.check_sizes(common);
  return common;
}

XlaOp broadcast_to(const Node& node, XlaOp op, const Dimensions& sizes) {
  const Dimensions from = node.sizes_of(op);
  if (from == sizes) return op;
  if (from.size() > sizes.size())
    node.refuse("has operands of sizes [{}] that do not broadcast", fmt::join(from, ", "));
  // Removes dimensions of size 1 first, which XLA's broadcast does not expand.
  Dimensions kept;
  Dimensions places;
  const std::size_t first = sizes.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1 && sizes[first + i] != 1) continue;
    kept.push_back(from[i]);
    places.push_back(static_cast<std::int64_t>(first + i));
  }
  if (kept != from) op = xla::Reshape(op, kept);
  return xla::BroadcastInDim(op, sizes, places);
}

std::vector<XlaOp> broadcast_operands(const Node& node, std::optional<std::size_t> count,
                                      const char* needs) {
  std::vector<XlaOp> operands = node.operands();
  place_second_operand(node, operands);
  const Dimensions sizes =
      common_sizes(node, mapped(operands, [&](XlaOp operand) { return node.sizes_of(operand); }));
  for (XlaOp& operand : operands) operand = broadcast_to(node, operand, sizes);
  if (operands.size() != count.value_or(operands.size())) node.refuse("needs {}", needs);
  return operands;
}

XlaOp constant_reals(const Node& node, xla::PrimitiveType type, const std::vector<double>& values,
                     const Dimensions& sizes) {
  if (std::ssize(values) != product(sizes))
    node.refuse("has {} numbers where {} are needed", values.size(), product(sizes));
  const xla::Literal literal = *xla::LiteralUtil::CreateR1<double>(values).Convert(type);
  return xla::ConstantLiteral(&node.builder(), *literal.Reshape(sizes));
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

XlaOp sum_of(XlaOp x, const Dimensions& axes) {
  return reduce<xla::Zero, xla::CreateScalarAddComputation>(x, axes);
}
XlaOp product_of(XlaOp x, const Dimensions& axes) {
  return reduce<xla::One, xla::CreateScalarMultiplyComputation>(x, axes);
}
XlaOp largest_of(XlaOp x, const Dimensions& axes) {
  return reduce<xla::MinValue, xla::CreateScalarMaxComputation, xla::CreateScalarOrComputation>(
      x, axes);
}
XlaOp least_of(XlaOp x, const Dimensions& axes) {
  return reduce<xla::MaxValue, xla::CreateScalarMinComputation, xla::CreateScalarAndComputation>(
      x, axes);
}
XlaOp exact_sum_of(XlaOp x, const Dimensions& axes) {
  const auto type = element_type_of(x);
  const auto wide = type == xla::F16 || type == xla::BF16 ? xla::F32 : type;
  return cast(sum_of(cast(x, wide), axes), type);
}
XlaOp below_largest(const Node& node, XlaOp x, std::int64_t axis) {
  return xla::Min(x - spread(largest_of(x, {axis}), node.sizes_of(x), {axis}), like(x, 0));
}
XlaOp named(const Node& node, const char* name, const std::vector<std::int64_t>& numbers, XlaOp x,
            const std::function<XlaOp(XlaOp)>& compute) {
  const auto body = computation_builder(node, name);
  const XlaOp result = compute(xla::Parameter(body.get(), 0, node.shape_of_op(x), "x"));
  return composite(name, numbers, built_computation(node, *body, result), {x});
}
XlaOp softmax(const Node& node, XlaOp x, std::int64_t axis) {
  return named(node, "softmax", {axis}, x, [&](XlaOp inside) {
    const XlaOp powers = xla::Exp(below_largest(node, inside, axis));
    return powers / spread(exact_sum_of(powers, {axis}), node.sizes_of(x), {axis});
  });
}
XlaOp log_softmax(const Node& node, XlaOp x, std::int64_t axis) {
  const XlaOp below = below_largest(node, x, axis);
  const XlaOp sum = exact_sum_of(xla::Exp(below), {axis});
  return below - spread(xla::Log(sum), node.sizes_of(x), {axis});
}
XlaOp spread(XlaOp reduced, const Dimensions& sizes, const Dimensions& axes) {
  return xla::BroadcastInDim(reduced, sizes, other_dimensions(std::ssize(sizes), axes));
}

void check_inner_sizes(const Node& node, std::int64_t columns, std::int64_t rows) {
  if (columns == rows) return;
  node.refuse("multiplies a matrix of {} columns by one of {} rows", columns, rows);
}

XlaOp multiply_matrices(const Node& node, XlaOp a, XlaOp b) {
  Dimensions left = node.sizes_of(a);
  Dimensions right = node.sizes_of(b);
  if (left.empty() || right.empty()) node.refuse("multiplies scalars");
  const bool row = left.size() == 1;
  const bool column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  check_inner_sizes(node, left.back(), right[right.size() - 2]);
  if (row) a = xla::Reshape(a, left);
  if (column) b = xla::Reshape(b, right);
  const Dimensions batch = common_sizes(
      node, {Dimensions(left.begin(), left.end() - 2), Dimensions(right.begin(), right.end() - 2)});
  if (right.size() > 2) {  // else one matrix is for the whole batch
    a = broadcast_to(node, a, joined({batch, absl::MakeConstSpan(left).last(2)}));
    b = broadcast_to(node, b, joined({batch, absl::MakeConstSpan(right).last(2)}));
  }
  Dimensions sizes = batch;
  if (!row) sizes.push_back(left[left.size() - 2]);
  if (!column) sizes.push_back(right.back());
  node.check_sizes(sizes);
  return xla::Reshape(xla::BatchDot(a, b), sizes);
}

XlaOp stack(const Node& node, std::vector<XlaOp> parts, std::int64_t axis) {
  for (XlaOp& part : parts) part = xla::Reshape(part, with_new(node.sizes_of(part), axis, 1));
  return parts.size() == 1 ? parts.front() : xla::ConcatInDim(&node.builder(), parts, axis);
}
XlaOp repeat_along(const Node& node, XlaOp x, std::int64_t axis, std::int64_t times) {
  const Dimensions sizes = node.sizes_of(x);
  const XlaOp repeated = spread(x, with_new(sizes, axis + 1, times), {axis + 1});
  return xla::Reshape(repeated, with_size(sizes, axis, entry(sizes, axis) * times));
}
XlaOp take_places(const Node& node, XlaOp x, std::int64_t axis,
                  const std::vector<std::int64_t>& places, const Dimensions& of_places) {
  const Dimensions sizes = node.sizes_of(x);
  const std::int64_t size = entry(sizes, axis);
  if (places.empty()) return xla::SliceInDim(x, 0, 0, 1, axis);
  for (const std::int64_t place : places) {
    if (place < 0 || place >= size) node.refuse("reads an element that its operand does not have");
  }
  const std::vector<PlaceRun> runs = runs_of(places);
  if (runs.size() <= kMostSlices) {
    const auto parts =
        mapped(runs, [&](const PlaceRun& run) { return take_run(node, x, axis, run); });
    return parts.size() == 1 ? parts.front() : xla::ConcatInDim(&node.builder(), parts, axis);
  }
  const Dimensions shape = of_places.empty() ? Dimensions{std::ssize(places)} : of_places;
  const auto rank = std::ssize(shape);
  return gather(
      node, x, xla::Reshape(constant_integers(node, places), shape),
      {{axis}, other_dimensions(std::ssize(sizes) - 1 + rank, counted(rank, axis)), rank});
}

XlaOp gather(const Node& node, XlaOp x, XlaOp places, const GatherForm& form) {
  Dimensions slice = node.sizes_of(x);
  for (const std::int64_t axis : form.indexed) entry(slice, axis) = 1;
  return xla::Gather(x, places,
                     xla::HloGatherInstruction::MakeGatherDimNumbers(form.kept, form.indexed,
                                                                     form.indexed, form.tuple),
                     slice);
}

XlaOp counted_from_start(const Node& node, XlaOp indices, std::int64_t size) {
  const auto type = node.type_of(indices);
  if (is_unsigned(type)) return indices;
  const XlaOp from_end = indices + xla::ConstantR0WithType(&node.builder(), type, size);
  return xla::Select(indices < 0, from_end, indices);
}

Dimensions window_attribute(const Node& node, const char* name, std::size_t count,
                            std::int64_t otherwise) {
  auto given = node.integers(name);
  if (given.empty()) return Dimensions(count, otherwise);
  if (given.size() != count)
    node.refuse("has {} numbers as '{}' instead of {}", given.size(), name, count);
  return given;
}

Dimensions spatial_sizes(const Node& node, int operand) {
  const Dimensions sizes = node.sizes(operand);
  if (sizes.size() < 3) {
    node.refuse(
        "needs an operand with batch, channels and more dimensions, but it has "
        "{} dimensions",
        sizes.size());
  }
  return {sizes.begin() + 2, sizes.end()};
}

SpatialWindow window_without_auto_pad(const Node& node, std::size_t rank, Dimensions size) {
  SpatialWindow window;
  if (size.empty() && !node.has_attribute("kernel_shape")) node.refuse("has no kernel_shape");
  window.size = std::move(size);
  const Dimensions given = window_attribute(node, "kernel_shape", rank, 0);
  if (window.size.empty()) window.size = given;
  if (node.has_attribute("kernel_shape") && given != window.size)
    node.refuse("has a kernel_shape that is not the size of its filter");
  window.stride = window_attribute(node, "strides", rank, 1);
  window.dilation = window_attribute(node, "dilations", rank, 1);
  const Dimensions pads = window_attribute(node, "pads", 2 * rank, 0);
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  window.low.assign(pads.begin(), middle);
  window.high.assign(middle, pads.end());
  // XLA computes with them without checking for overflow.
  const auto is_large = [](std::int64_t x) { return x > kMostPlaces || x < -kMostPlaces; };
  for (std::size_t d = 0; d < rank; ++d) {
    const std::array parts = {window.size[d], window.stride[d], window.dilation[d]};
    if (std::ranges::min(parts) < 1) node.refuse("has a window, a stride or a dilation below 1");
    if (std::ranges::any_of(parts, is_large) || is_large(window.extent(d)) ||
        is_large(window.low[d]) || is_large(window.high[d])) {
      node.refuse("has a window, a stride, a dilation or a padding larger than any image");
    }
  }
  return window;
}

SpatialWindow spatial_window(const Node& node, const Dimensions& in, Dimensions size) {
  SpatialWindow window = window_without_auto_pad(node, in.size(), std::move(size));
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    pad_to_same(window, in, mode == "SAME_UPPER");
  } else if (mode == "VALID") {
    window.low.assign(in.size(), 0);
    window.high.assign(in.size(), 0);
  } else if (mode != "NOTSET" && !mode.empty()) {
    node.refuse("has the auto_pad '{}'", mode);
  }
  return window;
}

XlaOp channels_last(const Node& node, XlaOp op) {
  Dimensions order = counted(std::ssize(node.sizes_of(op)));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return xla::Transpose(op, order);
}
XlaOp channels_first(const Node& node, XlaOp op) {
  Dimensions order = counted(std::ssize(node.sizes_of(op)));
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return xla::Transpose(op, order);
}

XlaOp per_channel(const Node& node, XlaOp values, const Dimensions& sizes) {
  const std::int64_t channels = sizes.size() > 1 ? sizes[1] : 1;
  if (product(node.sizes_of(values)) != channels)
    node.refuse("needs a value for each of {} channels", channels);
  if (sizes.size() < 2) return xla::BroadcastInDim(xla::Reshape(values, {}), sizes, {});
  return xla::BroadcastInDim(xla::Reshape(values, {channels}), sizes, {1});
}

XlaOp clamped_to(const Node& node, XlaOp x, xla::PrimitiveType type) {
  return xla::Clamp(cast(xla::MinValue(&node.builder(), type), xla::F32), x,
                    cast(xla::MaxValue(&node.builder(), type), xla::F32));
}

std::vector<XlaOp> apply(Node& node, const Applied& what, const std::vector<XlaOp>& operands) {
  const Opsets opsets = {{"", what.opset}};
  OnnxScope scope(node.scope(), opsets, node.builder(), &node.scope());
  onnx::GraphProto graph;
  onnx::NodeProto& proto = *graph.add_node();
  proto.set_op_type(what.operation);
  proto.set_name(node.name());
  if (what.with_attributes) *proto.mutable_attribute() = node.proto().attribute();
  for (const XlaOp operand : operands) {
    const std::string name = fmt::format("operand {}", proto.input_size());
    if (operand.valid()) scope.set(name, operand);
    proto.add_input(operand.valid() ? name : "");
  }
  for (int i = 0; i < what.results; ++i) {
    proto.add_output(fmt::format("result {}", i));
    graph.add_output()->set_name(proto.output(i));
  }
  scope.lower(graph);
  return scope.outputs_of(graph);
}

}  // namespace tfaot::toolkit::engine
