// SPDX-License-Identifier: Apache-2.0
// Building blocks of operators: arithmetic with numbers, sizes, broadcasting, reductions, products,
// gathers, windows over images, other operators. Functions that take a Node refuse unsuitable
// values in its name. Used by one thread.
//
// Loops, for Loop, Scan and the recurrent operators. XLA's computations cannot refer to values
// outside, so everything that they read is passed in.
#pragma once

#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "front/onnx/operators.h"
#include "tfaot/base/limits.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"
#include "xla/client/lib/matrix.h"
#include "xla/client/xla_computation.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {

using xla::XlaOp;

// An arbitrary type if XLA refused the operand, which Node::set() reports.
xla::PrimitiveType element_type_of(XlaOp x);
// Scalars of a given type, or of the type of `x`. XLA broadcasts scalars by itself.
XlaOp scalar(const Node& node, xla::PrimitiveType type, double value);
XlaOp scalar_like(XlaOp x, double value);

template <typename T>
concept Number = std::is_arithmetic_v<T>;
XlaOp like(XlaOp x, Number auto value) { return scalar_like(x, static_cast<double>(value)); }

// Elementwise comparisons; XLA overloads only the arithmetic operators.
inline XlaOp operator==(XlaOp x, XlaOp y) { return xla::Eq(x, y); }
inline XlaOp operator!=(XlaOp x, XlaOp y) { return xla::Ne(x, y); }
inline XlaOp operator<(XlaOp x, XlaOp y) { return xla::Lt(x, y); }
inline XlaOp operator>(XlaOp x, XlaOp y) { return xla::Gt(x, y); }
inline XlaOp operator<=(XlaOp x, XlaOp y) { return xla::Le(x, y); }
inline XlaOp operator>=(XlaOp x, XlaOp y) { return xla::Ge(x, y); }

// A number is converted to the type of the other operand.
#define TFAOT_WITH_NUMBER(op)                                           \
  XlaOp operator op(XlaOp x, Number auto y) { return x op like(x, y); } \
  XlaOp operator op(Number auto x, XlaOp y) { return like(y, x) op y; }
TFAOT_WITH_NUMBER(+)
TFAOT_WITH_NUMBER(-)
TFAOT_WITH_NUMBER(*)
TFAOT_WITH_NUMBER(/)
TFAOT_WITH_NUMBER(%)
TFAOT_WITH_NUMBER(==)
TFAOT_WITH_NUMBER(!=)
TFAOT_WITH_NUMBER(<)
TFAOT_WITH_NUMBER(>)
TFAOT_WITH_NUMBER(<=)
TFAOT_WITH_NUMBER(>=)
#undef TFAOT_WITH_NUMBER

inline XlaOp cast(XlaOp x, xla::PrimitiveType type) { return xla::ConvertElementType(x, type); }
// Floating point; unsigned integers.
inline bool is_real(xla::PrimitiveType type) {
  return xla::primitive_util::IsFloatingPointType(type);
}
inline bool is_unsigned(xla::PrimitiveType type) {
  return xla::primitive_util::IsUnsignedIntegralType(type);
}

// Activation functions of operators and of the gates of recurrent layers.
inline XlaOp relu(XlaOp x) { return xla::Max(x, like(x, 0)); }
inline XlaOp softplus(XlaOp x) { return relu(x) + xla::Log1p(xla::Exp(-xla::Abs(x))); }
inline XlaOp softsign(XlaOp x) { return x / (1 + xla::Abs(x)); }
inline XlaOp or_below_zero(XlaOp x, XlaOp below) { return xla::Select(x < 0, below, x); }
inline XlaOp leaky_relu(XlaOp x, float alpha) { return or_below_zero(x, x * alpha); }
inline XlaOp elu(XlaOp x, float alpha) { return or_below_zero(x, alpha * xla::Expm1(x)); }
inline XlaOp hard_sigmoid(XlaOp x, float alpha, float beta) {
  return xla::Clamp(like(x, 0), x * alpha + beta, like(x, 1));
}

// A list that is an operand since this opset, and an attribute before.
struct MovedList {
  std::int64_t since;
  int operand;
  const char* attribute;
};
// Nothing if the node leaves it out. Refuses an operand that is not known.
std::optional<std::vector<std::int64_t>> integers_of(const Node& node, const MovedList& list);

// Sizes with one replaced or inserted.
Dimensions with_size(Dimensions sizes, std::int64_t axis, std::int64_t size);
Dimensions with_new(Dimensions sizes, std::int64_t axis, std::int64_t size);

// The sizes of operand 0 flattened to a matrix: rows before the axis, columns from it on. The axis
// may be one past the last.
Dimensions sizes_split_at(const Node& node, std::int64_t axis);

// The common sizes to which all of these broadcast. Refuses those that do not match.
Dimensions common_sizes(const Node& node, const std::vector<Dimensions>& all);
// As numpy.broadcast_to: new dimensions come first.
XlaOp broadcast_to(const Node& node, XlaOp op, const Dimensions& sizes);
// All operands of the node, broadcast together. `count`: the required number of operands.
std::vector<XlaOp> broadcast_operands(const Node& node, std::optional<std::size_t> count = {},
                                      const char* needs = "");
// Broadcasts a vector along the axis to a tensor of these sizes.
inline XlaOp along(XlaOp values, const Dimensions& sizes, std::int64_t axis) {
  return xla::BroadcastInDim(values, sizes, {axis});
}
// Broadcasts a vector along the last dimension to the sizes of `like`.
inline XlaOp along_last(const Node& node, XlaOp vector, XlaOp like) {
  const Dimensions sizes = node.sizes_of(like);
  return along(vector, sizes, std::ssize(sizes) - 1);
}
// Reshapes a tensor of one element to a scalar; leaves others as they are.
inline XlaOp scalar_if_single(const Node& node, XlaOp x) {
  return product(node.sizes_of(x)) == 1 ? xla::Reshape(x, {}) : x;
}

inline XlaOp constant_integers(const Node& node, const std::vector<std::int64_t>& values) {
  return xla::ConstantR1<std::int64_t>(&node.builder(), values);
}
inline XlaOp constant_integer(const Node& node, std::int64_t value) {
  return xla::ConstantR0<std::int64_t>(&node.builder(), value);
}
XlaOp constant_reals(const Node& node, xla::PrimitiveType type, const std::vector<double>& values,
                     const Dimensions& sizes);
// Zeros (false) of this type and these sizes.
XlaOp zeros_of(const Node& node, xla::PrimitiveType type, const Dimensions& sizes);
// Each element's index along one dimension, for a tensor of these sizes.
XlaOp index_along(const Node& node, xla::PrimitiveType type, const Dimensions& sizes,
                  std::int64_t axis);

// Reductions that remove the axes. For booleans, the largest is "any" and the least is "all".
XlaOp sum_of(XlaOp x, const Dimensions& axes);
XlaOp product_of(XlaOp x, const Dimensions& axes);
XlaOp largest_of(XlaOp x, const Dimensions& axes);
XlaOp least_of(XlaOp x, const Dimensions& axes);
// Sums half floats in float32 and rounds once, as NumPy does.
XlaOp exact_sum_of(XlaOp x, const Dimensions& axes);
// A function of x that keeps its name (compiler/kernels/composites.h).
XlaOp named(const Node& node, const char* name, const std::vector<std::int64_t>& numbers, XlaOp x,
            const std::function<XlaOp(XlaOp)>& compute);
// x minus its largest element along the axis; softmax and its logarithm. The difference is clamped
// to 0: if XLA computes x twice with different rounding, large values could otherwise overflow the
// exponential.
XlaOp below_largest(const Node& node, XlaOp x, std::int64_t axis);
XlaOp softmax(const Node& node, XlaOp x, std::int64_t axis);
XlaOp log_softmax(const Node& node, XlaOp x, std::int64_t axis);
// Broadcasts a value reduced over the axes back to a tensor of these sizes.
XlaOp spread(XlaOp reduced, const Dimensions& sizes, const Dimensions& axes);

// x times the transposed matrix; both have two dimensions.
inline XlaOp times_transposed(XlaOp x, XlaOp matrix) {
  return xla::BatchDot(x, false, matrix, true);
}
// As numpy.matmul. The last two dimensions are matrices; the others are a batch and broadcast. A
// vector is a row on the left and a column on the right; its extra dimension is removed from the
// result.
XlaOp multiply_matrices(const Node& node, XlaOp a, XlaOp b);
// Refuses sizes that differ: xla::BatchDot would multiply the sums of both.
void check_inner_sizes(const Node& node, std::int64_t columns, std::int64_t rows);

// Tensors of equal sizes joined along a new axis.
XlaOp stack(const Node& node, std::vector<XlaOp> parts, std::int64_t axis);
// Repeats each element, as numpy.repeat.
XlaOp repeat_along(const Node& node, XlaOp x, std::int64_t axis, std::int64_t times);
// One place of a dimension, which keeps size 1 (slice_at) or is removed (part_at).
inline XlaOp slice_at(XlaOp x, std::int64_t place, std::int64_t axis) {
  return xla::SliceInDim(x, place, place + 1, 1, axis);
}
inline XlaOp part_at(const Node& node, XlaOp x, std::int64_t place, std::int64_t axis) {
  return xla::Reshape(slice_at(x, place, axis), without(node.sizes_of(x), axis));
}
// Takes the elements at known places of one dimension; by slices if these are few. `of_places`: the
// shape of the places, which the result has in place of the dimension if it is made by a gather; so
// the place of each element in it does not follow a free size.
XlaOp take_places(const Node& node, XlaOp x, std::int64_t axis,
                  const std::vector<std::int64_t>& places, const Dimensions& of_places = {});
// The dimensions of x that are indexed, and those of the result that the others become.
struct GatherForm {
  Dimensions indexed;
  Dimensions kept;
  std::int64_t tuple = 0;  // dimension of the places' tuples; their rank if they are plain places
};
XlaOp gather(const Node& node, XlaOp x, XlaOp places, const GatherForm& form);
// Converts negative indices of one dimension, which count from the end.
XlaOp counted_from_start(const Node& node, XlaOp indices, std::int64_t size);

// Elements added before and after each dimension; a negative number cuts them off.
using Paddings = std::vector<std::pair<std::int64_t, std::int64_t>>;
inline XlaOp pad(XlaOp x, XlaOp value, const Paddings& paddings) {
  return xla::Pad(x, value, xla::MakeEdgePaddingConfig(paddings));
}

// A window; its members are indexed by spatial dimension.
struct SpatialWindow {
  Dimensions size;
  Dimensions stride;
  Dimensions dilation;
  Dimensions low;  // padding
  Dimensions high;

  std::size_t rank() const { return size.size(); }
  // The distance from its first to its last element, inclusive.
  std::int64_t extent(std::size_t d) const { return (size[d] - 1) * dilation[d] + 1; }
};
// An attribute with a number for each spatial dimension; if missing, `otherwise` for all.
Dimensions window_attribute(const Node& node, const char* name, std::size_t count,
                            std::int64_t otherwise);
// The sizes after batch and channels. Refuses an operand that has none.
Dimensions spatial_sizes(const Node& node, int operand);
// Reads kernel_shape, strides, dilations, pads and auto_pad. `in`: the operand's spatial sizes.
// `size`: the filter's; empty: kernel_shape is required.
SpatialWindow spatial_window(const Node& node, const Dimensions& in, Dimensions size = {});
// The same without auto_pad, which has another meaning for ConvTranspose.
SpatialWindow window_without_auto_pad(const Node& node, std::size_t rank, Dimensions size = {});
// Transposes [batch, channels, spatial...] to [batch, spatial..., channels], and back. The kernels
// need channels last, so windows are computed in that layout; settle_layouts() (hlo/layouts.cc)
// removes the transposes between such operations.
XlaOp channels_last(const Node& node, XlaOp op);
XlaOp channels_first(const Node& node, XlaOp op);
// Broadcasts one value per channel to a tensor of these sizes with channels first.
XlaOp per_channel(const Node& node, XlaOp values, const Dimensions& sizes);

// Clamps float32 values to the range of an integer type.
XlaOp clamped_to(const Node& node, XlaOp x, xla::PrimitiveType type);
// The operand as int32 minus its zero point, an operand that may be omitted. `axis`: there may be a
// zero point for each place of this axis, or for each element; otherwise several are refused.
XlaOp without_zero_point(const Node& node, int operand, int zero,
                         std::optional<std::int64_t> axis = {});
// The number that all zero points of an operand are, 0 if it is omitted; none: they differ, or are
// not known.
std::optional<std::int64_t> zero_point_of(const Node& node, int operand);
// (x - zero point) * scale of an operand that its scale and its zero point follow, as float32.
// `axis`: of scales and zero points, if there are several.
XlaOp real_numbers(const Node& node, int operand, std::optional<std::int64_t> axis);
// Rounds to the nearest (even) integers, adds the zero point and converts to its type with
// saturation. Zero points: one, or one for each value.
XlaOp saturated(const Node& node, XlaOp values, XlaOp zero);

// Applies an ONNX operator to values; an invalid XlaOp is an omitted operand.
struct Applied {
  std::string operation;
  std::int64_t opset = 12;       // the axes of Squeeze and Unsqueeze are attributes
  bool with_attributes = false;  // those of the node
  int results = 1;
};
std::vector<XlaOp> apply(Node& node, const Applied& what, const std::vector<XlaOp>& operands);

// The operands of one step of a loop. All values belong to the builder.
struct LoopStep {
  xla::XlaBuilder& builder;
  xla::XlaOp number;              // of the step, from 0 on; a scalar of type S64
  std::vector<xla::XlaOp> state;  // results of the step before
  std::vector<xla::XlaOp> fixed;  // the same for all steps
};

struct LoopLength {
  std::optional<std::int64_t> count;  // none: only the state ends the loop
  bool by_state = false;  // the state starts with a boolean scalar: go on while it is true
  bool is_while = false;  // an XLA While also for few steps
};

// Returns the results of the last step. A few steps of known count are unrolled; others become an
// XLA While. Refuses states that change their shape.
std::vector<xla::XlaOp> run_loop(
    const Node& node, LoopLength length, std::vector<xla::XlaOp> state,
    const std::vector<xla::XlaOp>& fixed,
    const std::function<std::vector<xla::XlaOp>(const LoopStep&)>& step);

// x at one place of a dimension, which is removed.
xla::XlaOp at_step(const Node& node, xla::XlaOp x, std::int64_t axis, xla::XlaOp place);
// `all` with one place of its first dimension replaced by `one`.
xla::XlaOp with_step(const Node& node, xla::XlaOp all, xla::XlaOp one, xla::XlaOp place);

// A builder for a separate computation, whose instructions are attributed to the node.
std::unique_ptr<xla::XlaBuilder> computation_builder(const Node& node, const std::string& name);
xla::XlaComputation built_computation(const Node& node, xla::XlaBuilder& builder, xla::XlaOp root);

}  // namespace tfaot::toolkit::engine
