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

// The places of one side's matrices on two levels of a batch.
struct BatchLevels {
  std::int64_t count;  // of the inner level
  std::int64_t outer, inner;
};

// The same matrices with another number of them on the inner level, if there is such a form.
std::optional<BatchLevels> with_inner(const BatchLevels& levels, std::int64_t count,
                                      std::int64_t batch) {
  if (levels.count == count) return levels;
  if (levels.count != 1 && levels.count != batch && levels.outer != levels.count * levels.inner) {
    return {};
  }
  const std::int64_t each = levels.count == 1 ? levels.outer : levels.inner;
  return BatchLevels{count, count * each, each};
}

// The levels of a product's sides and of its result.
struct ProductLevels {
  std::int64_t count;
  BatchLevels lhs, rhs, result;
  std::int64_t result_row;
};

ProductLevels levels_of(const MatMulCall& call) {
  const std::int64_t matrix = call.rows * call.columns;
  if ((call.epilogue & kernels::kEpiloguePlaced) == 0) {
    return {1,
            {1, call.lhs_batch_stride, 0},
            {1, call.rhs_batch_stride, 0},
            {1, matrix, 0},
            call.columns};
  }
  const std::int64_t count = call.inner_batch;
  return {count,
          {count, call.lhs_batch_stride, call.lhs_inner_stride},
          {count, call.rhs_batch_stride, call.rhs_inner_stride},
          {count, call.result_batch_stride, call.result_inner_stride},
          call.result_row_stride};
}

// True if matrices of that many elements are contiguous.
bool is_dense(const BatchLevels& levels, std::int64_t matrix, std::int64_t batch) {
  const auto one = with_inner(levels, 1, batch);
  return batch == 1 || (one && one->outer == matrix);
}

// The fields of both products and the softmax between them; nothing if they do not fit together.
std::optional<kernels::AttentionCall> attention_of(const MatMulCall& scores,
                                                   const kernels::SoftmaxCall& softmax,
                                                   const MatMulCall& sums) {
  const std::int64_t batch = sums.batch;
  const std::int64_t matrix = sums.rows * sums.depth;
  if (scores.batch != batch || scores.rows != sums.rows || scores.columns != sums.depth ||
      softmax.columns != sums.depth || softmax.rows != batch * sums.rows) {
    return {};
  }
  const ProductLevels first = levels_of(scores);
  const ProductLevels second = levels_of(sums);
  if (first.result_row != scores.columns || !is_dense(first.result, matrix, batch) ||
      sums.lhs_row_stride != sums.depth || sums.lhs_depth_stride != 1 ||
      !is_dense(second.lhs, matrix, batch)) {
    return {};
  }
  for (const std::int64_t count : {second.count, first.count}) {
    const auto queries = with_inner(first.lhs, count, batch);
    const auto keys = with_inner(first.rhs, count, batch);
    const auto values = with_inner(second.rhs, count, batch);
    const auto result = with_inner(second.result, count, batch);
    if (!queries || !keys || !values || !result) continue;
    const auto places = [](const BatchLevels& levels, std::int64_t row, std::int64_t column) {
      return MatrixPlaces{levels.outer, levels.inner, row, column};
    };
    return kernels::AttentionCall{batch,
                                  count,
                                  sums.rows,
                                  sums.depth,
                                  scores.depth,
                                  sums.columns,
                                  softmax.scale,
                                  places(*queries, scores.lhs_row_stride, scores.lhs_depth_stride),
                                  places(*keys, scores.rhs_column_stride, scores.rhs_depth_stride),
                                  places(*values, sums.rhs_depth_stride, sums.rhs_column_stride),
                                  places(*result, second.result_row, 1)};
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
