// SPDX-License-Identifier: Apache-2.0
// Attention without a softmax: a state that each step of the sequence changes and reads.
#include <fmt/format.h>

#include <cmath>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/loops.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

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
  return xla::ConvertElementType(xla::Transpose(cut, {1, 0, 2, 3}), xla::F32);
}

// What the loop hands on: the state, the results, and the operands by step.
struct LinearAttentionRule {
  LinearAttentionSizes sizes;
  bool has_decay = false;
  bool has_correction = false;
};

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
  const auto by_depth = [&](XlaOp x) { return xla::BroadcastInDim(x, sizes.state(), {0, 1, 2}); };
  const auto by_column = [&](XlaOp x) { return xla::BroadcastInDim(x, sizes.state(), {0, 1, 3}); };
  if (rule.has_decay) state = xla::Mul(state, by_depth(of_step(5, sizes.heads, sizes.depth)));
  xla::DotDimensionNumbers numbers;
  for (const std::int64_t d : {0, 1}) {
    numbers.add_lhs_batch_dimensions(d);
    numbers.add_rhs_batch_dimensions(d);
  }
  numbers.add_rhs_contracting_dimensions(2);
  if (rule.has_correction) {
    xla::DotDimensionNumbers retrieve = numbers;
    retrieve.add_lhs_contracting_dimensions(2);
    const XlaOp rate = of_step(rule.has_decay ? 6 : 5, sizes.heads, sizes.columns);
    value = xla::Mul(rate, xla::Sub(value, xla::DotGeneral(key, state, retrieve)));
  }
  state = xla::Add(state, xla::Mul(by_depth(key), by_column(value)));
  next[0] = state;
  numbers.add_lhs_contracting_dimensions(3);
  const XlaOp rows =
      xla::Reshape(query, {sizes.batch, sizes.heads, sizes.query_heads / sizes.heads, sizes.depth});
  const XlaOp read = xla::Reshape(xla::DotGeneral(rows, state, numbers),
                                  {1, sizes.batch, sizes.query_heads, sizes.columns});
  next[1] = xla::DynamicUpdateSlice(values[1], read, {step, zero, zero, zero});
  return next;
}

// Operands: queries, keys, values, the state before, its decay (a logarithm), the rate of
// corrections.
void lower_linear_attention(Node& node) {
  LinearAttentionRule rule{linear_attention_sizes(node)};
  const LinearAttentionSizes& sizes = rule.sizes;
  const std::string name = node.text("update_rule", "gated_delta");
  if (name != "linear" && name != "gated" && name != "delta" && name != "gated_delta") {
    node.refuse(fmt::format("has the update_rule '{}'", name));
  }
  rule.has_decay = name.starts_with("gated");
  rule.has_correction = name.ends_with("delta");
  xla::XlaBuilder& builder = node.builder();
  const Dimensions results = {sizes.steps, sizes.batch, sizes.query_heads, sizes.columns};
  std::vector<XlaOp> values = {
      node.has(3) ? xla::ConvertElementType(node.operand(3), xla::F32)
                  : xla::Zeros(&builder, shape_of(xla::F32, sizes.state())),
      xla::Zeros(&builder, shape_of(xla::F32, results)), steps_first(node, 0, sizes.query_heads),
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
  const auto made = xla::ForEachIndex(
      sizes.steps, xla::S32,
      [&](XlaOp step, absl::Span<const XlaOp> now, xla::XlaBuilder* body)
          -> absl::StatusOr<std::vector<XlaOp>> { return attend_step(rule, step, now, body); },
      values, "linear_attention", &builder);
  if (!made.ok()) node.refuse("cannot be compiled: " + std::string(made.status().message()));
  const float given = node.real("scale", 0);
  const double scale =
      given == 0 ? 1 / std::sqrt(static_cast<double>(sizes.depth)) : static_cast<double>(given);
  const XlaOp read = xla::Mul((*made)[1], scalar(node, xla::F32, scale));
  const XlaOp joined = xla::Reshape(xla::Transpose(read, {1, 0, 2, 3}),
                                    {sizes.batch, sizes.steps, sizes.query_heads * sizes.columns});
  node.set(0, xla::ConvertElementType(joined, node.type(0)));
  node.set(1, xla::ConvertElementType((*made)[0], node.type(node.has(3) ? 3 : 0)));
}

}  // namespace

std::vector<OnnxOperator> linear_attention_operators() {
  return {{"LinearAttention", 27, lower_linear_attention}};
}

}  // namespace tfaot::toolkit::engine
