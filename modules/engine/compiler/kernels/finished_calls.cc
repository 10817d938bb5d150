// SPDX-License-Identifier: Apache-2.0
// Passes over existing kernel calls: these absorb the function of their results, read operands
// without reshapes, skip rows of padding, and get aligned temporaries.
#include <algorithm>
#include <utility>

#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_facts.h"
#include "xla/shape_layout.h"
#include "xla/util.h"

namespace tfaot::toolkit::engine {

namespace {

constexpr auto kPointerBytes = static_cast<std::int64_t>(sizeof(void*));

// XLA puts a table of pointers for each kernel call with scratch before all temporaries, 8 bytes
// for each result and a multiple of 16 for each table.
std::int64_t table_bytes(const HloInstruction& kernel) {
  constexpr std::int64_t kTableAlignment = 16;  // XLA's of all buffers
  const std::int64_t results = xla::ShapeUtil::TupleElementCount(kernel.shape());
  return xla::RoundUpTo(kPointerBytes * results, kTableAlignment);
}

// Gives a call more results, which nobody uses.
Status add_results(HloInstruction& kernel, std::int64_t count) {
  std::vector<xla::Shape> results = kernel.shape().tuple_shapes();
  for (; count > 0; --count) results.push_back(shape_of(xla::U8, {kLineBytes}));
  HloInstruction* const made = add_next_to(
      &kernel,
      kernel.CloneWithNewOperands(xla::ShapeUtil::MakeTupleShape(results), operands_of(kernel)));
  for (HloInstruction* user : Instructions(kernel.users())) {
    TFAOT_TRY(replace(*user, element_of(made, user->tuple_index())));
    TFAOT_TRY(checked(kernel.parent()->RemoveInstruction(user)));
  }
  return checked(kernel.parent()->RemoveInstruction(&kernel));
}

}  // namespace

Status absorb_function(HloInstruction& kernel, PassContext& /*context*/) {
  if (!is_kernel_call(kernel)) return {};
  HloInstruction* const first = only_result(kernel);
  const auto word = word_of_epilogue(kernel);
  if (first == nullptr || !word || !takes_function(kernel)) return {};
  std::vector<std::int64_t> words = call_words(kernel);
  if ((words.at(*word) & (kernels::kEpilogueRelu | kernels::kEpilogueFunction)) != 0) return {};
  const auto found = function_of(*after_reshapes(first));
  if (!found) return {};
  words.at(*word) |= kernels::kEpilogueFunction;
  TFAOT_TRY(
      extend_kernel_call(kernel, words, words_next_to(&kernel, as_words(found->of_kernel()))));
  return replace(*found->result, first);
}

Status pass_before_reshapes(HloInstruction& kernel, PassContext& /*context*/) {
  if (!is_kernel_call(kernel)) return {};
  Instructions operands = operands_of(kernel);
  for (HloInstruction*& operand : operands) operand = before_reshapes(operand);
  return std::ranges::equal(operands, kernel.operands()) ? Status()
                                                         : replace_operands(kernel, operands);
}

// Unless all tables together are a multiple of a cache line, each vector of a temporary lies in two
// lines, and kernels that read more than they compute take up to 1.4 times as long. Other tables,
// as those of loops, are not known here.
Status align_temporaries(xla::HloModule& module, PassContext& /*context*/) {
  std::int64_t bytes = 0;
  HloInstruction* last = nullptr;
  for (auto* computation : module.computations()) {
    for (auto* instruction : computation->instructions()) {
      if (!is_kernel_call(*instruction) || !instruction->shape().IsTuple()) continue;
      bytes += table_bytes(*instruction);
      if (!instruction->IsRoot()) last = instruction;
    }
  }
  const std::int64_t missing = xla::RoundUpTo(bytes, kLineBytes) - bytes;
  if (last == nullptr || missing == 0) return {};
  return add_results(*last, missing / kPointerBytes);
}

namespace {

// Lets products, convolutions and forests skip the padding rows of a batch. It applies to models
// that treat every row alone, as far as the HLO shows, and whose values all keep their rows in
// order. There, these kernels get the number of real rows as another operand, which is a parameter
// after all others; the skipped part of a result has arbitrary contents. Any other model stays
// unchanged.
class RowsOf {
 public:
  RowsOf(const xla::HloComputation& entry, std::int64_t inputs) : inputs_(inputs) {
    rows_.batch = entry.parameter_instruction(0)->shape().dimensions(0);
    for (const HloInstruction* one : entry.MakeInstructionPostOrder()) {
      rows_.values[one] = visit(*one);
    }
  }

  const BatchRows& all() const { return rows_; }

 private:
  // The first dimension counts rows of the batch, or parts of them.
  bool leads(const HloInstruction& one) const {
    return one.shape().IsArray() && one.shape().rank() > 0 &&
           rows_.divide(one.shape().dimensions(0));
  }

  Rows visit(const HloInstruction& one) const {
    if (one.opcode() == kParameter) {
      if (one.parameter_number() >= inputs_) return Rows::kNone;
      return leads(one) && one.shape().dimensions(0) == rows_.batch ? Rows::kInOrder : Rows::kMixed;
    }
    const auto& operands = one.operands();
    if (std::ranges::all_of(operands, [&](const HloInstruction* operand) {
          return rows_.values.at(operand) == Rows::kNone;
        })) {
      return one.called_computations().empty() || one.opcode() == kReduce ? Rows::kNone
                                                                          : Rows::kMixed;
    }
    return keeps_order(one) ? Rows::kInOrder : Rows::kMixed;
  }

  // Assumes that operands that depend on the batch are in order.
  bool keeps_order(const HloInstruction& one) const {
    if (std::ranges::any_of(one.operands(), [&](const auto* operand) {
          return rows_.values.at(operand) == Rows::kMixed;
        })) {
      return false;
    }
    switch (one.opcode()) {
      case kReshape:
      case kBitcast:
      case kTuple:
        return true;
      case kGetTupleElement:
        // The results of a kernel call, or of several reductions at once.
        return one.tuple_index() == 0 || one.operand(0)->opcode() == kReduce ||
               is_call_of(*one.operand(0), Kernel::kTopK);
      case kBroadcast:
        return leads(*one.operand(0)) && one.dimensions(0) == 0 &&
               one.shape().dimensions(0) == one.operand(0)->shape().dimensions(0);
      case kSlice:
        return leads(*one.operand(0)) && leads(one) && one.slice_strides(0) == 1 &&
               one.shape().dimensions(0) == one.operand(0)->shape().dimensions(0);
      case kConcatenate:
        return one.concatenate_dimension() != 0 && leads(one);
      case kTranspose:
        return leads(*one.operand(0)) && one.dimensions(0) == 0;
      case kReduce:
        return leads(*one.operand(0)) && std::ranges::count(one.dimensions(), 0) == 0;
      case kCustomCall:
        return keeps_rows(one, rows_);
      default:
        return one.IsElementwise() && one.shape().IsArray();
    }
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
  if (std::ranges::any_of(rows.all().values,
                          [](const auto& one) { return one.second == Rows::kMixed; })) {
    return {};
  }
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
