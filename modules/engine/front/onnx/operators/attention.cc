// SPDX-License-Identifier: Apache-2.0
// Attention, rotary embeddings and linear attention.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "front/onnx/onnx_tensor.h"
#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/loops.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

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
  // Rows of heads that share a matrix count as rows of one.
  const XlaOp rows = xla::Reshape(a, {left[0], right[1], sharing * left[2], left[3]});
  const std::int64_t columns = right[b_is_transposed ? 2 : 3];
  const XlaOp made = dot(rows, b, {{3}, {b_is_transposed ? 3 : 2}, {0, 1}, {0, 1}});
  return xla::Reshape(made, {left[0], left[1], left[2], columns});
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
  const std::int64_t missing = sizes[3] - entry(node.sizes(3), last);
  if (missing > 0 && entry(node.sizes(3), last) != 1) {
    mask = xla::PadInDim(mask, lowest(node, node.type_of(mask)), last, 0, missing);
  }
  return broadcast_to(node, cast(mask, type), sizes);
}

// Hides parts of the scores, of [batch, heads, rows, columns].
XlaOp with_masks(const Node& node, XlaOp scores) {
  const Dimensions sizes = node.sizes_of(scores);
  const auto type = node.type_of(scores);
  const auto index = [&](std::int64_t dimension) {
    return index_along(node, xla::S64, sizes, dimension);
  };
  if (node.has(3)) scores = scores + bias_of_operand(node, sizes, type);
  if (node.flag("is_causal")) {
    const std::int64_t past = node.has(4) ? node.sizes(4)[2] : 0;
    scores = scores + bias_of_mask(node, index(3) <= index(2) + past, type);
  }
  if (node.has(6)) {
    const XlaOp lengths = along(cast(node.operand(6), xla::S64), sizes, 0);
    scores = scores + bias_of_mask(node, index(3) < lengths, type);
  }
  return scores;
}

XlaOp softmax_of_rows(const Node& node, XlaOp x) {
  const Dimensions sizes = node.sizes_of(x);
  const XlaOp powers = xla::Exp(x - spread(largest_of(x, {3}), sizes, {3}));
  return powers / spread(exact_sum_of(powers, {3}), sizes, {3});
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
  if (scale < 0 || xla::primitive_util::BitWidth(node.type_of(queries)) > 16) {
    return {queries * scale, keys};
  }
  return {queries * std::sqrt(scale), keys * std::sqrt(scale)};
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
    const XlaOp bound = like(scores, cap);
    scores = xla::Tanh(scores / bound) * bound;
  }
  if (shown == 1) node.set(3, scores);
  scores = with_masks(node, scores);
  if (shown == 2) node.set(3, scores);

  const auto precision = element_type(static_cast<int>(node.integer("softmax_precision", 0)));
  XlaOp weights = softmax_of_rows(node, precision ? cast(scores, *precision) : scores);
  if (shown == 3) node.set(3, cast(weights, type));
  // In the more exact of the two types.
  const auto bits = [](xla::PrimitiveType one) { return xla::primitive_util::BitWidth(one); };
  const auto exact = bits(node.type_of(weights)) > bits(type) ? node.type_of(weights) : type;
  XlaOp made = multiply_heads(node, cast(weights, exact), cast(values, exact), false);
  made = cast(made, type);
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
  return gather(node, node.operand(operand), node.operand(3), {{0}, {2}, 2});
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
  const Dimensions half = with_size(heads, 3, turned / 2);
  const bool is_interleaved = node.flag("interleaved");
  const XlaOp rotated = xla::SliceInDim(x, 0, turned, 1, 3);
  const auto part = [&](std::int64_t which) {
    if (!is_interleaved) {
      return xla::SliceInDim(rotated, which * half[3], (which + 1) * half[3], 1, 3);
    }
    return part_at(node, xla::Reshape(rotated, with_new(half, 4, 2)), which, 4);
  };
  const auto cache = [&](int operand) {
    return xla::BroadcastInDim(rotation_cache(node, operand), half, cache_places);
  };
  const XlaOp cosine = cache(1);
  const XlaOp sine = cache(2);
  XlaOp real = cosine * part(0) - sine * part(1);
  XlaOp imaginary = sine * part(0) + cosine * part(1);
  if (is_interleaved) {
    real = xla::Reshape(real, with_new(half, 4, 1));
    imaginary = xla::Reshape(imaginary, with_new(half, 4, 1));
  }
  xla::XlaBuilder& builder = node.builder();
  const XlaOp made =
      xla::Reshape(xla::ConcatInDim(&builder, {real, imaginary}, is_interleaved ? 4 : 3),
                   with_size(heads, 3, turned));
  const XlaOp kept = xla::SliceInDim(x, turned, heads[3], 1, 3);
  node.set(xla::Reshape(xla::ConcatInDim(&builder, {made, kept}, 3), sizes));
}

// Linear attention, without a softmax: a state that each step of the sequence changes and reads.
struct LinearAttentionSizes {
  std::int64_t batch = 0;
  std::int64_t steps = 0;
  std::int64_t query_heads = 0;
  std::int64_t heads = 0;    // of keys and values
  std::int64_t depth = 0;    // of queries and keys
  std::int64_t columns = 0;  // of values

  Dimensions state() const { return {batch, heads, depth, columns}; }
};

LinearAttentionSizes linear_attention_sizes(const Node& node) {
  for (const int operand : {0, 1, 2}) {
    if (node.rank(operand) != 3) node.refuse("needs operands of three dimensions");
  }
  LinearAttentionSizes sizes;
  sizes.query_heads = node.integer("q_num_heads");
  sizes.heads = node.integer("kv_num_heads");
  const Dimensions query = node.sizes(0);
  if (sizes.heads < 1 || sizes.query_heads < 1 || sizes.query_heads % sizes.heads != 0 ||
      query[2] % sizes.query_heads != 0 || node.sizes(2)[2] % sizes.heads != 0) {
    node.refuse("has numbers of heads that do not match its operands");
  }
  sizes.batch = query[0];
  sizes.steps = query[1];
  sizes.depth = query[2] / sizes.query_heads;
  sizes.columns = node.sizes(2)[2] / sizes.heads;
  if (node.sizes(1)[2] != sizes.heads * sizes.depth) node.refuse("has keys of another size");
  return sizes;
}

// [batch, steps, heads * size] to [steps, batch, heads, size], in float32.
XlaOp steps_first(const Node& node, int operand, std::int64_t heads) {
  const Dimensions sizes = node.sizes(operand);
  if (sizes.size() != 3 || sizes[2] % heads != 0) node.refuse("has an operand of a wrong size");
  const XlaOp cut =
      xla::Reshape(node.operand(operand), {sizes[0], sizes[1], heads, sizes[2] / heads});
  return cast(xla::Transpose(cut, {1, 0, 2, 3}), xla::F32);
}

struct LinearAttentionRule {
  LinearAttentionSizes sizes;
  bool has_decay = false;
  bool has_correction = false;
};

// One step. `values`: the state, the results, and the operands by step.
std::vector<XlaOp> attend_step(const LinearAttentionRule& rule, XlaOp step,
                               absl::Span<const XlaOp> values, xla::XlaBuilder* builder) {
  const LinearAttentionSizes& sizes = rule.sizes;
  const XlaOp zero = xla::ConstantR0<std::int32_t>(builder, 0);
  const auto of_step = [&](std::size_t which, std::int64_t heads, std::int64_t size) {
    const XlaOp cut =
        xla::DynamicSlice(values[which], {step, zero, zero, zero}, {1, sizes.batch, heads, size});
    return xla::Reshape(cut, {sizes.batch, heads, size});
  };
  std::vector<XlaOp> next(values.begin(), values.end());
  XlaOp state = values[0];
  const XlaOp query = of_step(2, sizes.query_heads, sizes.depth);
  const XlaOp key = of_step(3, sizes.heads, sizes.depth);
  XlaOp value = of_step(4, sizes.heads, sizes.columns);
  const auto by_depth = [&](XlaOp x) { return spread(x, sizes.state(), {3}); };
  if (rule.has_decay) state = state * by_depth(of_step(5, sizes.heads, sizes.depth));
  if (rule.has_correction) {
    const XlaOp rate = of_step(rule.has_decay ? 6 : 5, sizes.heads, sizes.columns);
    value = rate * (value - dot(key, state, {{2}, {2}, {0, 1}, {0, 1}}));
  }
  state = state + by_depth(key) * spread(value, sizes.state(), {2});
  next[0] = state;
  const XlaOp rows =
      xla::Reshape(query, {sizes.batch, sizes.heads, sizes.query_heads / sizes.heads, sizes.depth});
  const XlaOp read = xla::Reshape(dot(rows, state, {{3}, {2}, {0, 1}, {0, 1}}),
                                  {1, sizes.batch, sizes.query_heads, sizes.columns});
  next[1] = xla::DynamicUpdateSlice(values[1], read, {step, zero, zero, zero});
  return next;
}

// Operands: queries, keys, values, the state before, its decay (a logarithm), the rate of
// corrections.
void lower_linear_attention(Node& node) {
  LinearAttentionRule rule{linear_attention_sizes(node)};
  const LinearAttentionSizes& sizes = rule.sizes;
  const std::string name = node.word("update_rule", {"gated_delta", "linear", "gated", "delta"});
  rule.has_decay = name.starts_with("gated");
  rule.has_correction = name.ends_with("delta");
  xla::XlaBuilder& builder = node.builder();
  const Dimensions results = {sizes.steps, sizes.batch, sizes.query_heads, sizes.columns};
  std::vector<XlaOp> values = {
      node.has(3) ? cast(node.operand(3), xla::F32) : zeros_of(node, xla::F32, sizes.state()),
      zeros_of(node, xla::F32, results), steps_first(node, 0, sizes.query_heads),
      steps_first(node, 1, sizes.heads), steps_first(node, 2, sizes.heads)};
  if (rule.has_decay) {
    values.push_back(broadcast_to(node, xla::Exp(steps_first(node, 4, sizes.heads)),
                                  {sizes.steps, sizes.batch, sizes.heads, sizes.depth}));
  }
  if (rule.has_correction) {
    const std::int64_t heads = node.sizes(5).back() == 1 ? 1 : sizes.heads;
    values.push_back(broadcast_to(node, steps_first(node, 5, heads),
                                  {sizes.steps, sizes.batch, sizes.heads, sizes.columns}));
  }
  const auto made = node.made(xla::ForEachIndex(
      sizes.steps, xla::S32,
      [&](XlaOp step, absl::Span<const XlaOp> now, xla::XlaBuilder* body)
          -> absl::StatusOr<std::vector<XlaOp>> { return attend_step(rule, step, now, body); },
      values, "linear_attention", &builder));
  const float given = node.real("scale", 0);
  const double scale =
      given == 0 ? 1 / std::sqrt(static_cast<double>(sizes.depth)) : static_cast<double>(given);
  const XlaOp read = made[1] * scale;
  const XlaOp joined = xla::Reshape(xla::Transpose(read, {1, 0, 2, 3}),
                                    {sizes.batch, sizes.steps, sizes.query_heads * sizes.columns});
  node.set(0, cast(joined, node.type(0)));
  node.set(1, cast(made[0], node.type(node.has(3) ? 3 : 0)));
}

}  // namespace

std::vector<OnnxOperator> attention_operators() {
  return {
      {"Attention", 23, lower_attention},
      {"LinearAttention", 27, lower_linear_attention},
      {"RotaryEmbedding", 23, lower_rotary_embedding},
  };
}

}  // namespace tfaot::toolkit::engine
