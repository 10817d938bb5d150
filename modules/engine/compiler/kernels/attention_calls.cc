// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/kernel_facts.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::MatMulCall;
using kernels::MatrixPlaces;

// True if the kernel takes queries as the lanes of vectors, and that takes less time than three
// calls. With deeper heads the products take the time, and lanes without a query.
bool wins_by_lanes(const kernels::AttentionCall& call) {
  return kernels::can_be_lanes(call) && call.rows >= tuned().attention_fewest_rows_as_lanes &&
         std::max(call.depth, call.columns) <= tuned().attention_most_depth_as_lanes &&
         call.keys * (call.depth + call.columns) <= tuned().attention_most_keys_as_lanes;
}

// Otherwise, with fewer rows to share packed values, three calls take as long or less.
bool wins_by_blocks(const kernels::AttentionCall& call) {
  return call.rows >= tuned().attention_fewest_rows_by_blocks;
}

// The value before reshapes; null if something else uses it or them.
HloInstruction* sole_source(HloInstruction* value) {
  value = before_own_reshapes(value);
  return only_user(*value) != nullptr ? value : nullptr;
}

// The call that `value` is the result of, if it is a plain product of float32: nothing is packed,
// and nothing follows the sums.
HloInstruction* plain_product_call(HloInstruction& value) {
  if (value.opcode() != kGetTupleElement || value.tuple_index() != 0) return nullptr;
  HloInstruction* const made = value.mutable_operand(0);
  if (!is_call_of(*made, Kernel::kMatMul) || element_bytes(*made->operand(1)) != sizeof(float)) {
    return nullptr;
  }
  const auto call = call_of<MatMulCall>(*made);
  constexpr std::int64_t kPlain = kernels::kEpiloguePlaced | kernels::kEpilogueSwapped;
  const bool is_plain =
      call.rhs_packed == 0 && call.live_rows == 0 && (call.epilogue & ~kPlain) == 0;
  return is_plain ? made : nullptr;
}

// The matrices of a product's sides and of its result, as [outer, inner, rows, columns] with two
// levels of the batch.
struct ProductViews {
  std::int64_t inner;
  View lhs, rhs, result;
};

ProductViews views_of(const MatMulCall& call) {
  const bool is_placed = (call.epilogue & kernels::kEpiloguePlaced) != 0;
  const std::int64_t inner = is_placed ? call.inner_batch : 1;
  const auto view = [&](std::int64_t outer_step, std::int64_t inner_step, const Stride& rows,
                        const Stride& columns) {
    return View{nullptr, {{call.batch / inner, outer_step}, {inner, inner_step}, rows, columns}};
  };
  return {inner,
          view(call.lhs_batch_stride, call.lhs_inner_stride, {call.rows, call.lhs_row_stride},
               {call.depth, call.lhs_depth_stride}),
          view(call.rhs_batch_stride, call.rhs_inner_stride, {call.depth, call.rhs_depth_stride},
               {call.columns, call.rhs_column_stride}),
          view(is_placed ? call.result_batch_stride : call.rows * call.columns,
               call.result_inner_stride,
               {call.rows, is_placed ? call.result_row_stride : call.columns}, {call.columns, 1})};
}

// The fields of both products and the softmax between them; nothing if they do not fit together.
std::optional<kernels::AttentionCall> attention_of(const MatMulCall& scores,
                                                   const kernels::SoftmaxCall& softmax,
                                                   const MatMulCall& sums) {
  const std::int64_t batch = sums.batch;
  if (scores.batch != batch || scores.rows != sums.rows || scores.columns != sums.depth ||
      softmax.columns != sums.depth || softmax.rows != batch * sums.rows) {
    return {};
  }
  const ProductViews first = views_of(scores), second = views_of(sums);
  // The scores lie in order.
  if (step_of(first.result.strides) != 1 || step_of(second.lhs.strides) != 1) return {};
  for (const std::int64_t count : {second.inner, first.inner}) {
    const auto with_inner = [&](const View& view) {
      return view.reshaped({batch / count, count, view.strides[2].size, view.strides[3].size});
    };
    const auto queries = with_inner(first.lhs), keys = with_inner(first.rhs);
    const auto values = with_inner(second.rhs), result = with_inner(second.result);
    if (!queries || !keys || !values || !result) continue;
    const auto places = [](const Strides& steps, std::size_t row, std::size_t column) {
      return MatrixPlaces{steps[0].step, steps[1].step, steps[row].step, steps[column].step};
    };
    return kernels::AttentionCall{batch,
                                  count,
                                  sums.rows,
                                  sums.depth,
                                  scores.depth,
                                  sums.columns,
                                  softmax.scale,
                                  places(queries->strides, 2, 3),
                                  places(keys->strides, 3, 2),
                                  places(values->strides, 2, 3),
                                  places(result->strides, 2, 3)};
  }
  return {};
}

// ---- Facts.

struct AttentionFacts {
  using Call = kernels::AttentionCall;

  // As of a product of two sides that depend on the batch.
  static bool keeps_rows(const Call& /*call*/, const HloInstruction& /*one*/,
                         const BatchRows& /*rows*/) {
    return false;
  }
  // Two products, and a softmax of the scores between them.
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    const ProductSize scores{call.rows, call.keys, call.depth, sizeof(float)};
    const ProductSize sums{call.rows, call.columns, call.keys, sizeof(float)};
    const double score_bytes = static_cast<double>(call.rows * call.keys) * sizeof(float);
    const double all =
        speed.waiting(bytes_of(one.operand(2)->shape()) + bytes_of(one.operand(3)->shape())) +
        static_cast<double>(call.batch) *
            (product_cycles(speed.machine(), scores) + product_cycles(speed.machine(), sums) +
             speed.vectors(score_bytes) * kDearCycles);
    return call_cycles(one, speed) + all;
  }
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    return {fmt::format("{} times {} queries x {} by {} keys, values of {}", call.batch, call.rows,
                        call.depth, call.keys, call.columns),
            2 * call.batch * call.rows * call.keys * (call.depth + call.columns)};
  }
};

}  // namespace

constinit const KernelFacts kAttentionFacts = facts_of<AttentionFacts>();

// `result`: that of a product, maybe of a softmax of another product.
Status replace_attention(HloInstruction& result, PassContext& context) {
  HloInstruction* const sums = plain_product_call(result);
  if (sums == nullptr) return {};
  HloInstruction* const softmax = sole_source(sums->mutable_operand(1));
  if (softmax == nullptr || !is_call_of(*softmax, Kernel::kSoftmax)) {
    return {};
  }
  HloInstruction* const x = sole_source(softmax->mutable_operand(1));
  HloInstruction* const scores = x == nullptr ? nullptr : plain_product_call(*x);
  if (scores == nullptr) return {};
  const auto call =
      attention_of(call_of<MatMulCall>(*scores), call_of<kernels::SoftmaxCall>(*softmax),
                   call_of<MatMulCall>(*sums));
  if (!call) return {};
  if (!wins_by_lanes(*call) && !wins_by_blocks(*call)) {
    add_remark(context, result,
               fmt::format("no attention: three calls are as fast for {} queries of {} numbers "
                           "and {} keys",
                           call->rows, call->depth, call->keys));
    return {};
  }
  return replace(result, add_kernel_call({Kernel::kAttention,
                                          as_words(*call),
                                          {scores->mutable_operand(1), scores->mutable_operand(2),
                                           sums->mutable_operand(2)},
                                          dimensions_of(result)},
                                         *sums));
}

}  // namespace tfaot::toolkit::engine
