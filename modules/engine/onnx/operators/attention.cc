// SPDX-License-Identifier: Apache-2.0
// Attention, and the rotation of embeddings by their position.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "onnx/onnx_tensor.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// [batch, sequence, heads * size] to [batch, heads, sequence, size].
XlaOp split_heads(const Node& node, XlaOp x, std::int64_t heads) {
  const Dimensions sizes = node.sizes_of(x);
  if (heads < 1 || sizes[2] % heads != 0) {
    node.refuse(fmt::format("cannot split {} elements into {} heads", sizes[2], heads));
  }
  return xla::Transpose(xla::Reshape(x, {sizes[0], sizes[1], heads, sizes[2] / heads}),
                        {0, 2, 1, 3});
}

// An operand as [batch, heads, sequence, size].
XlaOp attention_operand(const Node& node, int operand, const char* heads) {
  const auto rank = node.rank(operand);
  if (rank == 4) return node.operand(operand);
  if (rank != 3) node.refuse("needs operands of three or four dimensions");
  return split_heads(node, node.operand(operand), node.integer(heads));
}

XlaOp with_past(const Node& node, XlaOp x, int past) {
  if (!node.has(past)) return x;
  return xla::ConcatInDim(&node.builder(), {node.operand(past), x}, 2);
}

// Products of [batch, heads, rows, depth] with the matrices of [batch, shared heads, ...]: several
// heads in a row may share one.
XlaOp multiply_heads(const Node& node, XlaOp a, XlaOp b, bool b_is_transposed) {
  const Dimensions left = node.sizes_of(a);
  const Dimensions right = node.sizes_of(b);
  if (right[1] < 1 || left[1] % right[1] != 0) {
    node.refuse(fmt::format("has {} heads that share {} heads of keys", left[1], right[1]));
  }
  const std::int64_t sharing = left[1] / right[1];
  xla::DotDimensionNumbers numbers;
  for (const std::int64_t d : {0, 1}) {
    numbers.add_lhs_batch_dimensions(d);
    numbers.add_rhs_batch_dimensions(d);
  }
  numbers.add_lhs_contracting_dimensions(3);
  numbers.add_rhs_contracting_dimensions(b_is_transposed ? 3 : 2);
  // Rows of heads that share a matrix count as rows of one.
  const XlaOp rows = xla::Reshape(a, {left[0], right[1], sharing * left[2], left[3]});
  const std::int64_t columns = right[b_is_transposed ? 2 : 3];
  return xla::Reshape(xla::DotGeneral(rows, b, numbers), {left[0], left[1], left[2], columns});
}

XlaOp lowest(const Node& node, xla::PrimitiveType type) {
  return scalar(node, type, -std::numeric_limits<double>::infinity());
}

// 0 where the mask is true, and minus infinity elsewhere.
XlaOp bias_of_mask(const Node& node, XlaOp mask, xla::PrimitiveType type) {
  const Dimensions sizes = node.sizes_of(mask);
  return xla::Select(mask, xla::Broadcast(scalar(node, type, 0), sizes),
                     xla::Broadcast(lowest(node, type), sizes));
}

// The mask operand as what is added to scores of these sizes; a short one hides what it lacks.
XlaOp bias_of_operand(const Node& node, const Dimensions& sizes, xla::PrimitiveType type) {
  XlaOp mask = node.operand(3);
  const std::int64_t last = node.rank(3) - 1;
  if (last < 0) node.refuse("has a mask without dimensions");
  if (node.type(3) == xla::PRED) mask = bias_of_mask(node, mask, type);
  const std::int64_t missing = sizes[3] - node.sizes(3)[static_cast<std::size_t>(last)];
  if (missing > 0 && node.sizes(3)[static_cast<std::size_t>(last)] != 1) {
    mask = xla::PadInDim(mask, lowest(node, node.type_of(mask)), last, 0, missing);
  }
  return broadcast_to(node, xla::ConvertElementType(mask, type), sizes);
}

// What hides parts of the scores, of [batch, heads, rows, columns].
XlaOp with_masks(const Node& node, XlaOp scores) {
  const Dimensions sizes = node.sizes_of(scores);
  const auto type = node.type_of(scores);
  const auto index = [&](std::int64_t dimension) {
    return xla::Iota(&node.builder(), shape_of(xla::S64, sizes), dimension);
  };
  if (node.has(3)) scores = xla::Add(scores, bias_of_operand(node, sizes, type));
  if (node.integer("is_causal", 0) != 0) {
    const std::int64_t past = node.has(4) ? node.sizes(4)[2] : 0;
    const XlaOp latest = xla::Add(index(2), scalar(node, xla::S64, static_cast<double>(past)));
    scores = xla::Add(scores, bias_of_mask(node, xla::Le(index(3), latest), type));
  }
  if (node.has(6)) {
    const XlaOp lengths =
        xla::BroadcastInDim(xla::ConvertElementType(node.operand(6), xla::S64), sizes, {0});
    scores = xla::Add(scores, bias_of_mask(node, xla::Lt(index(3), lengths), type));
  }
  return scores;
}

XlaOp softmax_of_rows(const Node& node, XlaOp x) {
  const Dimensions sizes = node.sizes_of(x);
  const auto type = node.type_of(x);
  xla::XlaBuilder& builder = node.builder();
  const auto spread = [&](XlaOp rows) { return xla::BroadcastInDim(rows, sizes, {0, 1, 2}); };
  const XlaOp largest = xla::Reduce(x, xla::MinValue(&builder, type),
                                    xla::CreateScalarMaxComputation(type, &builder), {3});
  const XlaOp powers = xla::Exp(xla::Sub(x, spread(largest)));
  return xla::Div(powers, spread(sum_over(node, powers, {3})));
}

// Scales queries, and keys too where their product could overflow.
struct ScaledHeads {
  XlaOp queries;
  XlaOp keys;
};
ScaledHeads scaled_heads(const Node& node, XlaOp queries, XlaOp keys) {
  const auto size = static_cast<double>(node.sizes_of(queries)[3]);
  const double scale = node.has_attribute("scale") ? static_cast<double>(node.real("scale", 1))
                                                   : 1 / std::sqrt(size);
  const auto times = [&](XlaOp x, double by) { return xla::Mul(x, scalar_like(node, x, by)); };
  if (scale < 0 || xla::primitive_util::BitWidth(node.type_of(queries)) > 16) {
    return {times(queries, scale), keys};
  }
  return {times(queries, std::sqrt(scale)), times(keys, std::sqrt(scale))};
}

// Operands: queries, keys, values, mask, past keys, past values, lengths without padding. Results:
// the values, keys and values with the past ones, and the scores at a point that is asked for.
void lower_attention(Node& node) {
  const bool is_flat = node.rank(0) == 3;
  const auto type = node.type(0);
  const XlaOp queries = attention_operand(node, 0, "q_num_heads");
  const XlaOp keys = with_past(node, attention_operand(node, 1, "kv_num_heads"), 4);
  const XlaOp values = with_past(node, attention_operand(node, 2, "kv_num_heads"), 5);
  node.set(1, keys);
  node.set(2, values);

  const ScaledHeads scaled = scaled_heads(node, queries, keys);
  XlaOp scores = multiply_heads(node, scaled.queries, scaled.keys, true);
  const std::int64_t shown = node.integer("qk_matmul_output_mode", 0);
  if (shown == 0) node.set(3, scores);
  if (const float cap = node.real("softcap", 0); cap > 0) {
    const XlaOp bound = scalar_like(node, scores, static_cast<double>(cap));
    scores = xla::Mul(xla::Tanh(xla::Div(scores, bound)), bound);
  }
  if (shown == 1) node.set(3, scores);
  scores = with_masks(node, scores);
  if (shown == 2) node.set(3, scores);

  const auto precision = element_type(static_cast<int>(node.integer("softmax_precision", 0)));
  XlaOp weights =
      softmax_of_rows(node, precision ? xla::ConvertElementType(scores, *precision) : scores);
  if (shown == 3) node.set(3, xla::ConvertElementType(weights, type));
  // In the more exact of the two types.
  const auto bits = [](xla::PrimitiveType one) { return xla::primitive_util::BitWidth(one); };
  const auto exact = bits(node.type_of(weights)) > bits(type) ? node.type_of(weights) : type;
  XlaOp made = multiply_heads(node, xla::ConvertElementType(weights, exact),
                              xla::ConvertElementType(values, exact), false);
  made = xla::ConvertElementType(made, type);
  if (is_flat) {
    const Dimensions sizes = node.sizes_of(made);
    made =
        xla::Reshape(xla::Transpose(made, {0, 2, 1, 3}), {sizes[0], sizes[2], sizes[1] * sizes[3]});
  }
  node.set(0, made);
}

// Cosines or sines by [batch, sequence, half of the size].
XlaOp rotation_cache(const Node& node, int operand) {
  if (!node.has(3)) return node.operand(operand);
  xla::GatherDimensionNumbers numbers;
  numbers.add_offset_dims(2);
  numbers.add_collapsed_slice_dims(0);
  numbers.add_start_index_map(0);
  numbers.set_index_vector_dim(2);
  return xla::Gather(node.operand(operand), node.operand(3), numbers,
                     {1, node.sizes(operand).back()});
}

// Turns pairs of elements by angles: pairs side by side (interleaved), or one of each half.
void lower_rotary_embedding(Node& node) {
  const Dimensions sizes = node.sizes(0);
  XlaOp x = node.operand(0);
  Dimensions cache_places = {0, 2, 3};
  if (sizes.size() == 3) {
    const std::int64_t heads = node.integer("num_heads", 0);
    if (heads < 1 || sizes[2] % heads != 0) node.refuse("needs num_heads for three dimensions");
    x = xla::Reshape(x, {sizes[0], sizes[1], heads, sizes[2] / heads});
    cache_places = {0, 1, 3};
  } else if (sizes.size() != 4) {
    node.refuse("needs three or four dimensions");
  }
  const Dimensions heads = node.sizes_of(x);
  const std::int64_t given = node.integer("rotary_embedding_dim", 0);
  const std::int64_t turned = given == 0 ? heads[3] : given;
  if (turned > heads[3] || turned % 2 != 0) node.refuse("rotates a wrong number of elements");
  Dimensions half = heads;
  half[3] = turned / 2;
  const bool is_interleaved = node.integer("interleaved", 0) != 0;
  Dimensions pairs = half;
  pairs.push_back(2);
  const XlaOp rotated = xla::SliceInDim(x, 0, turned, 1, 3);
  const auto part = [&](std::int64_t which) {
    if (!is_interleaved) {
      return xla::SliceInDim(rotated, which * half[3], (which + 1) * half[3], 1, 3);
    }
    return xla::Reshape(xla::SliceInDim(xla::Reshape(rotated, pairs), which, which + 1, 1, 4),
                        half);
  };
  const auto cache = [&](int operand) {
    return xla::BroadcastInDim(rotation_cache(node, operand), half, cache_places);
  };
  const XlaOp cosine = cache(1);
  const XlaOp sine = cache(2);
  XlaOp real = xla::Sub(xla::Mul(cosine, part(0)), xla::Mul(sine, part(1)));
  XlaOp imaginary = xla::Add(xla::Mul(sine, part(0)), xla::Mul(cosine, part(1)));
  if (is_interleaved) {
    pairs.back() = 1;
    real = xla::Reshape(real, pairs);
    imaginary = xla::Reshape(imaginary, pairs);
  }
  xla::XlaBuilder& builder = node.builder();
  Dimensions whole = heads;
  whole[3] = turned;
  const XlaOp made =
      xla::Reshape(xla::ConcatInDim(&builder, {real, imaginary}, is_interleaved ? 4 : 3), whole);
  const XlaOp kept = xla::SliceInDim(x, turned, heads[3], 1, 3);
  node.set(xla::Reshape(xla::ConcatInDim(&builder, {made, kept}, 3), sizes));
}

}  // namespace

std::vector<OnnxOperator> attention_operators() {
  return {
      {"Attention", 23, lower_attention},
      {"RotaryEmbedding", 23, lower_rotary_embedding},
  };
}

}  // namespace tfaot::toolkit::engine
