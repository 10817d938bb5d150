// SPDX-License-Identifier: Apache-2.0
// Lets products, convolutions and forests skip the padding rows of a batch. It applies to models
// that treat every row alone, as far as the HLO shows, and whose values all keep their rows in
// order. There, these kernels get the number of real rows as another operand, which is a parameter
// after all others; the skipped part of a result has arbitrary contents. Any other model stays
// unchanged.
#include <algorithm>
#include <map>
#include <type_traits>

#include "kernels/gathered_parts.h"
#include "kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_layout.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// How a value depends on the batch.
enum class Rows {
  kNone,     // not at all
  kInOrder,  // its memory has one equal part per row, made of that row alone
  kMixed,    // in another way, or unknown
};

class RowsOf {
 public:
  RowsOf(const xla::HloComputation& entry, std::int64_t inputs) : inputs_(inputs) {
    batch_ = entry.parameter_instruction(0)->shape().dimensions(0);
    for (const HloInstruction* one : entry.MakeInstructionPostOrder()) rows_[one] = visit(*one);
  }

  std::int64_t batch() const { return batch_; }
  bool any_mixed() const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [](const auto& entry) { return entry.second == Rows::kMixed; });
  }
  // A kernel that can leave out rows of padding: a product of rows in order with a packed weight,
  // a chain of them, a recurrent layer of rows in order, a convolution of images in order, or a
  // forest.
  bool is_row_kernel(const HloInstruction& one) const {
    const KernelKind kind = kernel_kind(one);
    if (kind == KernelKind::kForest) {
      return call_of<kernels::ForestCall>(one).rows % batch_ == 0 &&
             rows_.at(one.operand(1)) == Rows::kInOrder && others_are_weights(one);
    }
    if (kind == KernelKind::kRecurrent) return is_row_recurrence(one);
    if (kind == KernelKind::kConvolution || kind == KernelKind::kDepthwise) {
      return reads_images(one, addends_of(call_of<kernels::ConvolutionCall>(one).epilogue));
    }
    if (kind == KernelKind::kDenseChain) {
      return call_of<kernels::DenseChainCall>(one).rows % batch_ == 0 &&
             rows_.at(one.operand(1)) == Rows::kInOrder && others_are_weights(one);
    }
    if (kind != KernelKind::kMatMul) return false;
    const auto call = call_of<kernels::MatMulCall>(one);
    return call.batch == 1 && call.rhs_packed != 0 && call.rows % batch_ == 0 &&
           call.lhs_depth_stride == 1 && call.lhs_row_stride == call.depth &&
           rows_.at(one.operand(1)) == Rows::kInOrder &&
           others_are_weights(one, addends_of(call.epilogue));
  }

 private:
  // All steps of a row lie together, in what it reads and in what it makes.
  bool is_row_recurrence(const HloInstruction& one) const {
    const auto call = call_of<kernels::RecurrentCall>(one);
    const std::int64_t made = xla::ShapeUtil::ElementsIn(one.shape().tuple_shapes(0));
    const auto may_be = [&](std::int64_t operand) {
      return rows_.at(one.operand(operand)) != Rows::kMixed;
    };
    return call.rows % batch_ == 0 && rows_.at(one.operand(1)) == Rows::kInOrder &&
           call.x_row * call.rows == xla::ShapeUtil::ElementsIn(one.operand(1)->shape()) &&
           rows_.at(one.operand(2)) == Rows::kNone && rows_.at(one.operand(3)) == Rows::kNone &&
           may_be(4) && (one.operand_count() < 6 || may_be(5)) && call.memory_out < 0 &&
           call.out_row * call.rows == made;
  }
  // Images, one after the other. A ConvolutionCall begins like a PoolCall.
  bool reads_images(const HloInstruction& one, std::int64_t addends = 0) const {
    return rows_.at(one.operand(1)) == Rows::kInOrder && others_are_weights(one, addends) &&
           call_of<kernels::PoolCall>(one).batch % batch_ == 0;
  }
  // But for what is added to the results, which has rows as they have.
  bool others_are_weights(const HloInstruction& kernel, std::int64_t addends = 0) const {
    for (std::int64_t i = 2; i < kernel.operand_count(); ++i) {
      const Rows rows = rows_.at(kernel.operand(i));
      if (rows != Rows::kNone && !(i == addends && rows == Rows::kInOrder)) return false;
    }
    return true;
  }
  // Which operand it is; 0: there is none.
  static std::int64_t addends_of(std::int64_t epilogue) {
    if ((epilogue & kernels::kEpilogueSum) == 0) return 0;
    const auto any_bias = kernels::kEpilogueBias | kernels::kEpilogueRowBias;
    return (epilogue & any_bias) != 0 ? 4 : 3;
  }
  // The first dimension counts rows of the batch, or parts of them.
  bool leads(const HloInstruction& one) const {
    return one.shape().IsArray() && one.shape().rank() > 0 &&
           one.shape().dimensions(0) % batch_ == 0;
  }

  Rows visit(const HloInstruction& one) const {
    if (one.opcode() == HloOpcode::kParameter) {
      if (one.parameter_number() >= inputs_) return Rows::kNone;
      return leads(one) && one.shape().dimensions(0) == batch_ ? Rows::kInOrder : Rows::kMixed;
    }
    const auto& operands = one.operands();
    if (std::all_of(operands.begin(), operands.end(), [&](const HloInstruction* operand) {
          return rows_.at(operand) == Rows::kNone;
        })) {
      return one.called_computations().empty() || one.opcode() == HloOpcode::kReduce ? Rows::kNone
                                                                                     : Rows::kMixed;
    }
    return keeps_order(one) ? Rows::kInOrder : Rows::kMixed;
  }

  // Assumes that operands that depend on the batch are in order.
  bool keeps_order(const HloInstruction& one) const {
    if (std::any_of(one.operands().begin(), one.operands().end(),
                    [&](const auto* operand) { return rows_.at(operand) == Rows::kMixed; })) {
      return false;
    }
    switch (one.opcode()) {
      case HloOpcode::kReshape:
      case HloOpcode::kBitcast:
      case HloOpcode::kTuple:
        return true;
      case HloOpcode::kGetTupleElement:
        // Of a kernel call, or of several reductions at once.
        return one.tuple_index() == 0 || one.operand(0)->opcode() == HloOpcode::kReduce ||
               kernel_kind(*one.operand(0)) == KernelKind::kTopK;
      case HloOpcode::kBroadcast:
        return leads(*one.operand(0)) && one.dimensions(0) == 0 &&
               one.shape().dimensions(0) == one.operand(0)->shape().dimensions(0);
      case HloOpcode::kSlice:
        return leads(*one.operand(0)) && leads(one) && one.slice_strides(0) == 1 &&
               one.shape().dimensions(0) == one.operand(0)->shape().dimensions(0);
      case HloOpcode::kConcatenate:
        return one.concatenate_dimension() != 0 && leads(one);
      case HloOpcode::kTranspose:
      case HloOpcode::kReduce:
        return leads(*one.operand(0)) && keeps_first_dimension(one);
      case HloOpcode::kCustomCall:
        return kernel_keeps_order(one);
      default:
        return one.IsElementwise() && one.shape().IsArray();
    }
  }

  static bool keeps_first_dimension(const HloInstruction& one) {
    if (one.opcode() == HloOpcode::kTranspose) return one.dimensions(0) == 0;
    return std::find(one.dimensions().begin(), one.dimensions().end(), 0) == one.dimensions().end();
  }

  bool kernel_keeps_order(const HloInstruction& one) const {
    const KernelKind kind = kernel_kind(one);
    if (kind == KernelKind::kMatMul || kind == KernelKind::kConvolution ||
        kind == KernelKind::kDepthwise || kind == KernelKind::kForest ||
        kind == KernelKind::kRecurrent || kind == KernelKind::kDenseChain) {
      return is_row_kernel(one);
    }
    // As a product of two sides that depend on the batch.
    if (kind == KernelKind::kAttention || kind == KernelKind::kOther) return false;
    if (kind == KernelKind::kTopK) return call_of<kernels::TopKCall>(one).rows % batch_ == 0;
    if (kind == KernelKind::kGather) return gather_keeps_order(one);
    if (kind == KernelKind::kRows) return call_words(one).front() % batch_ == 0 && reads_rows(one);
    return reads_images(one);
  }

  // Tensors as large as the first are in order too; the others are weights.
  bool reads_rows(const HloInstruction& kernel) const {
    const HloInstruction* const x = kernel.operand(1);
    return std::all_of(kernel.operands().begin() + 1, kernel.operands().end(),
                       [&](const auto* operand) {
                         const bool is_like_x = xla::ShapeUtil::ElementsIn(operand->shape()) ==
                                                xla::ShapeUtil::ElementsIn(x->shape());
                         return rows_.at(operand) == Rows::kNone ||
                                (is_like_x && rows_.at(operand) == Rows::kInOrder);
                       });
  }

  // Each part takes rows of a table, or of a tensor in order.
  bool gather_keeps_order(const HloInstruction& one) const {
    const std::int64_t rows = call_of<kernels::GatherCall>(one).rows;
    const auto is_walked = [&](std::int64_t operand, std::int64_t step) {
      return rows_.at(one.operand(operand)) == Rows::kNone ||
             step * rows == xla::ShapeUtil::ElementsIn(one.operand(operand)->shape());
    };
    return rows % batch_ == 0 &&
           std::ranges::all_of(gather_parts(one), [&](const kernels::GatherPart& part) {
             if (part.place_type == kernels::kPlacesInOrder) return is_walked(part.x, part.x_step);
             return rows_.at(one.operand(part.x)) == Rows::kNone &&
                    is_walked(part.places, part.place_step);
           });
  }

  std::int64_t inputs_;
  std::int64_t batch_ = 0;
  std::map<const HloInstruction*, Rows> rows_;
};

// The struct with its live rows or images set, and all that follows it.
template <typename Call>
std::vector<std::int64_t> live_words(const HloInstruction& kernel, std::int64_t batch) {
  auto call = call_of<Call>(kernel);
  if constexpr (std::is_same_v<Call, kernels::ConvolutionCall>) {
    call.live_images = call.batch / batch;
    call.epilogue |= kernels::kEpilogueLive;
  } else {
    call.live_rows = call.rows / batch;
  }
  std::vector<std::int64_t> words = call_words(kernel);
  std::ranges::copy(as_words(call), words.begin());
  return words;
}

std::vector<std::int64_t> live_words(const HloInstruction& kernel, std::int64_t batch) {
  switch (kernel_kind(kernel)) {
    case KernelKind::kForest:
      return live_words<kernels::ForestCall>(kernel, batch);
    case KernelKind::kDenseChain:
      return live_words<kernels::DenseChainCall>(kernel, batch);
    case KernelKind::kRecurrent:
      return live_words<kernels::RecurrentCall>(kernel, batch);
    case KernelKind::kConvolution:
    case KernelKind::kDepthwise:
      return live_words<kernels::ConvolutionCall>(kernel, batch);
    default:
      return live_words<kernels::MatMulCall>(kernel, batch);
  }
}

}  // namespace

Status leave_out_padding(xla::HloModule& module, PassContext& context) {
  const std::int64_t inputs = context.inputs;
  xla::HloComputation& entry = *module.entry_computation();
  const auto* first = inputs == 0 ? nullptr : entry.parameter_instruction(0);
  if (first == nullptr || first->shape().rank() == 0 || first->shape().dimensions(0) < 2) {
    return {};
  }
  const RowsOf rows(entry, inputs);
  if (rows.any_mixed()) return {};
  std::vector<HloInstruction*> able;
  for (HloInstruction* one : entry.MakeInstructionPostOrder()) {
    if (rows.is_row_kernel(*one)) able.push_back(one);
  }
  if (able.empty()) return {};
  const xla::Shape shape = shape_of(xla::S64, {});
  HloInstruction* live_rows = entry.AddEntryComputationParameter(
      HloInstruction::CreateParameter(entry.num_parameters(), shape, "live_rows"));
  for (HloInstruction* kernel : able) {
    TFAOT_TRY(extend_kernel_call(*kernel, live_words(*kernel, rows.batch()), live_rows));
  }
  context.has_live_rows = true;
  return {};
}

}  // namespace tfaot::toolkit::engine
