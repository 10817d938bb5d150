// SPDX-License-Identifier: Apache-2.0
// Lets products, convolutions and forests skip the padding rows of a batch. It applies to models
// that treat every row alone, as far as the HLO shows, and whose values all keep their rows in
// order. There, these kernels get the number of real rows as another operand, which is a parameter
// after all others; the skipped part of a result has arbitrary contents. Any other model stays
// unchanged.
#include <algorithm>
#include <utility>

#include "compiler/kernels/kernel_facts.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_layout.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

class RowsOf {
 public:
  RowsOf(const xla::HloComputation& entry, std::int64_t inputs) : inputs_(inputs) {
    rows_.batch = entry.parameter_instruction(0)->shape().dimensions(0);
    for (const HloInstruction* one : entry.MakeInstructionPostOrder()) {
      rows_.values[one] = visit(*one);
    }
  }

  const BatchRows& all() const { return rows_; }
  bool any_mixed() const {
    return std::ranges::any_of(rows_.values,
                               [](const auto& entry) { return entry.second == Rows::kMixed; });
  }

 private:
  // The first dimension counts rows of the batch, or parts of them.
  bool leads(const HloInstruction& one) const {
    return one.shape().IsArray() && one.shape().rank() > 0 &&
           rows_.divide(one.shape().dimensions(0));
  }

  Rows visit(const HloInstruction& one) const {
    if (one.opcode() == HloOpcode::kParameter) {
      if (one.parameter_number() >= inputs_) return Rows::kNone;
      return leads(one) && one.shape().dimensions(0) == rows_.batch ? Rows::kInOrder : Rows::kMixed;
    }
    const auto& operands = one.operands();
    if (std::all_of(operands.begin(), operands.end(), [&](const HloInstruction* operand) {
          return rows_.values.at(operand) == Rows::kNone;
        })) {
      return one.called_computations().empty() || one.opcode() == HloOpcode::kReduce ? Rows::kNone
                                                                                     : Rows::kMixed;
    }
    return keeps_order(one) ? Rows::kInOrder : Rows::kMixed;
  }

  // Assumes that operands that depend on the batch are in order.
  bool keeps_order(const HloInstruction& one) const {
    if (std::any_of(one.operands().begin(), one.operands().end(), [&](const auto* operand) {
          return rows_.values.at(operand) == Rows::kMixed;
        })) {
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
               is_call_of(*one.operand(0), Kernel::kTopK);
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
        return keeps_rows(one, rows_);
      default:
        return one.IsElementwise() && one.shape().IsArray();
    }
  }

  static bool keeps_first_dimension(const HloInstruction& one) {
    if (one.opcode() == HloOpcode::kTranspose) return one.dimensions(0) == 0;
    return std::find(one.dimensions().begin(), one.dimensions().end(), 0) == one.dimensions().end();
  }

  std::int64_t inputs_;
  BatchRows rows_;
};

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
  std::vector<std::pair<HloInstruction*, std::vector<std::int64_t>>> able;
  for (HloInstruction* one : entry.MakeInstructionPostOrder()) {
    if (auto words = live_words(*one, rows.all()); !words.empty()) {
      able.emplace_back(one, std::move(words));
    }
  }
  if (able.empty()) return {};
  const xla::Shape shape = shape_of(xla::S64, {});
  HloInstruction* live_rows = entry.AddEntryComputationParameter(
      HloInstruction::CreateParameter(entry.num_parameters(), shape, "live_rows"));
  for (const auto& [kernel, words] : able) {
    TFAOT_TRY(extend_kernel_call(*kernel, words, live_rows));
  }
  context.has_live_rows = true;
  return {};
}

}  // namespace tfaot::toolkit::engine
