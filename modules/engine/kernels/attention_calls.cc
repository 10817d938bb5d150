// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_calls.h"

#include "hlo/simplify.h"
#include "kernels/kernel_call.h"
#include "kernels/row_values.h"
#include "tfaot/kernels/abi.h"
#include "tfaot/kernels/rows.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::MatMulCall;
using xla::HloInstruction;
using xla::HloOpcode;

// Up to here scores stay in the second-level cache anyway, and three calls take as long.
constexpr std::int64_t kSmallScoreBytes = 512 << 10;

// The call of a kernel whose result this is; null: it is something else, or has another user.
HloInstruction* only_result_of(HloInstruction* value, std::string_view kernel) {
  while (value->opcode() == HloOpcode::kReshape || value->opcode() == HloOpcode::kGetTupleElement) {
    if (value->user_count() != 1 || value->IsRoot()) return nullptr;
    value = value->mutable_operand(0);
  }
  const bool is_it = is_kernel_call(*value) && kernel_name(*value) == kernel;
  return is_it && value->user_count() == 1 && !value->IsRoot() ? value : nullptr;
}

// A product of two tensors that only the run time knows, with nothing after it, and all its strides
// given.
std::optional<MatMulCall> placed_product(const HloInstruction& call) {
  auto product = call_of<MatMulCall>(call);
  const bool is_placed = product.epilogue == kernels::kEpiloguePlaced;
  if (product.rhs_packed != 0 || product.live_rows != 0 ||
      (!is_placed && product.epilogue != kernels::kEpilogueNone)) {
    return {};
  }
  if (is_placed) return product;
  product.epilogue = kernels::kEpiloguePlaced;
  product.inner_batch = 1;
  product.result_row_stride = product.columns;
  product.result_batch_stride = product.rows * product.columns;
  return product;
}

// Whether [batch, rows, columns] lie one after the other. `inner` and `outer`: strides of the
// batch.
bool is_dense(const MatMulCall& call, std::int64_t columns, std::int64_t row, std::int64_t inner,
              std::int64_t outer) {
  const std::int64_t matrix = call.rows * columns;
  return (call.rows == 1 || row == columns) && (call.inner_batch == 1 || inner == matrix) &&
         (call.batch == call.inner_batch || outer == call.inner_batch * matrix);
}

Status fuse(HloInstruction& values_product) {
  if (!is_kernel_call(values_product) || kernel_name(values_product) != "matmul_f32") return {};
  HloInstruction* const softmax = only_result_of(values_product.mutable_operand(1), "softmax_f32");
  if (softmax == nullptr) return {};
  HloInstruction* const scores_product = only_result_of(softmax->mutable_operand(1), "matmul_f32");
  if (scores_product == nullptr) return {};
  const auto scores = placed_product(*scores_product);
  const auto result = placed_product(values_product);
  const auto rows = call_of<kernels::SoftmaxCall>(*softmax);
  if (!scores || !result || scores->batch != result->batch || scores->rows != result->rows ||
      scores->columns != result->depth || rows.columns != scores->columns ||
      rows.rows != scores->batch * scores->rows || result->lhs_depth_stride != 1 ||
      rows.rows * rows.columns * element_bytes(*softmax) <= kSmallScoreBytes ||
      !is_dense(*scores, scores->columns, scores->result_row_stride, scores->result_inner_stride,
                scores->result_batch_stride) ||
      !is_dense(*result, result->depth, result->lhs_row_stride, result->lhs_inner_stride,
                result->lhs_batch_stride)) {
    return {};
  }
  const kernels::AttentionCall call{*scores, *result, rows.scale};
  const auto find_result = [&] {  // of all results, the first is no scratch memory
    for (HloInstruction* user : values_product.users()) {
      if (user->opcode() == HloOpcode::kGetTupleElement && user->tuple_index() == 0) return user;
    }
    return static_cast<HloInstruction*>(nullptr);
  };
  HloInstruction* const replaced = find_result();
  if (replaced == nullptr) return {};
  HloInstruction* const made =
      add_kernel_call({"attention",
                       as_words(call),
                       {scores_product->mutable_operand(1), scores_product->mutable_operand(2),
                        values_product.mutable_operand(2)},
                       dimensions_of(*replaced),
                       kernels::attention_scratch_bytes(call)},
                      values_product);
  return checked(replaced->ReplaceAllUsesWith(made));
}

}  // namespace

Status fuse_attention(xla::HloModule& module) {
  for (auto* computation : module.MakeComputationPostOrder()) {
    if (computation->IsFusionComputation()) continue;
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      TFAOT_TRY(fuse(*instruction));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
