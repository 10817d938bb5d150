// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/batch_form.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/code/optimize.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_call.h"
#include "compiler/rows/row_check.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

std::int64_t rows_of(const xla::HloModule& module) {
  return size_of(*module.entry_computation()->parameter_instruction(0), 0);
}

// How many real numbers of rows operations compute, by their kind.
using Arithmetic = std::map<std::string, std::multiset<std::int64_t>>;

Arithmetic arithmetic_of(const xla::HloModule& module, std::int64_t inputs) {
  std::set<const HloInstruction*> of_weights;  // and no rows, though they may be repeated for them
  const auto is_of_weights = [&](const HloInstruction* one) { return of_weights.contains(one); };
  Arithmetic found;
  for (const HloInstruction* one : instructions_of(module)) {
    const bool is_weight =
        one->opcode() == kParameter
            ? one->parent() == module.entry_computation() && one->parameter_number() >= inputs
            : std::ranges::all_of(one->operands(), is_of_weights);
    if (is_weight) of_weights.insert(one);
    if (is_weight || !computes(*one) || one->opcode() == kSelect) continue;
    if (!xla::primitive_util::IsFloatingPointType(type_of(*one))) continue;
    const HloInstruction& by = one->opcode() == kGetTupleElement ? *one->operand(0) : *one;
    const bool is_call = by.opcode() == kCustomCall;
    if (is_call && is_call_of(by, Kernel::kGather)) continue;
    std::string kind(is_call ? by.custom_call_target() : xla::HloOpcodeString(by.opcode()));
    if (by.opcode() == kSubtract) kind = xla::HloOpcodeString(kAdd);  // of the negative one
    if (is_call && is_call_of(by, Kernel::kMatMul) && is_of_weights(by.operand(1))) {
      kind += " of swapped sides";
    }
    found[kind].insert(elements_of(*one));
  }
  return found;
}

// Two rows have twice as many numbers as one, but for those of no row.
bool are_alike(const Arithmetic& one, const Arithmetic& two) {
  return std::ranges::equal(one, two, [](const auto& of_one, const auto& of_two) {
    // The smallest of one row is no double of another.
    std::multiset<std::int64_t> left = of_two.second;
    for (const std::int64_t numbers : of_one.second) {
      auto found = left.find(numbers);
      if (found == left.end()) found = left.find(2 * numbers);
      if (found == left.end()) return false;
      left.erase(found);
    }
    return of_one.first == of_two.first && left.empty();
  });
}

bool have_same_shapes(const xla::HloModule& a, const xla::HloModule& b) {
  const auto& of_a = a.entry_computation()->parameter_instructions();
  const auto& of_b = b.entry_computation()->parameter_instructions();
  return xla::ShapeUtil::Compatible(a.result_shape(), b.result_shape()) &&
         std::ranges::equal(of_a, of_b, [](const auto* one, const auto* other) {
           return xla::ShapeUtil::Compatible(one->shape(), other->shape());
         });
}

Status replace_module(xla::HloModule& module, xla::HloModule& by) {
  xla::HloComputation* const entry = by.entry_computation();
  module.MoveComputationsFrom(&by, /*make_names_unique=*/true);
  module.ReplaceEntryComputation(entry);
  return checked(module.RemoveUnusedComputations());
}

// Makes a module of two rows one of a row: the first of two equal ones.
Status take_one_of_two(xla::HloModule& module, std::int64_t inputs) {
  xla::HloComputation* const two = module.entry_computation();
  xla::HloComputation::Builder builder("row");
  Instructions parameters;
  for (const HloInstruction* one : two->parameter_instructions()) {
    xla::Shape shape = one->shape();
    if (one->parameter_number() < inputs) shape.set_dimensions(0, 1);
    parameters.push_back(builder.AddInstruction(
        HloInstruction::CreateParameter(one->parameter_number(), shape, std::string(one->name()))));
    parameters.back()->set_metadata(one->metadata());
  }
  xla::HloComputation* const row = module.AddEmbeddedComputation(builder.Build());
  for (std::int64_t i = 0; i < inputs; ++i) {
    HloInstruction*& one = entry(parameters, i);
    one = concatenate({one, one}, 0);
  }
  HloInstruction* const all = row->AddInstruction(
      HloInstruction::CreateCall(two->root_instruction()->shape(), parameters, two));
  Instructions outputs;
  for (int i = 0; i < all->shape().tuple_shapes_size(); ++i) {
    outputs.push_back(slice_along(element_of(all, i), 0, 0, 1));
  }
  row->set_root_instruction(tuple_of(outputs), /*accept_different_shape=*/true);
  module.ReplaceEntryComputation(row);
  return inline_calls(module);
}

}  // namespace

BatchForm::BatchForm(Lower lower, const LoweredModel& lowered, const Choices& choices,
                     WeightStore& weights, std::shared_ptr<BatchForm> like)
    : lower_(std::move(lower)), choices_(choices), weights_(weights), like_(std::move(like)) {
  std::tie(small_, large_) = telling_batch_sizes(lowered);
}

std::unique_ptr<BatchForm> BatchForm::find(const Lowering& lowering, const LoweredModel& lowered,
                                           const Choices& choices, WeightStore& weights) {
  if (lowering.has_fixed_batch() || lowered.inputs.empty()) return nullptr;
  return std::make_unique<BatchForm>(
      [&lowering](std::int64_t rows) { return lowering.lower(rows); }, lowered, choices, weights);
}

Result<SharedModule> BatchForm::settled(std::int64_t rows) const {
  TFAOT_ASSIGN(const LoweredModel lowered, lower_(rows));
  TFAOT_ASSIGN(auto module, make_module(lowered.computation.proto()));
  PassContext context{*module, std::ssize(lowered.inputs), choices_, &weights_};
  TFAOT_TRY(run_passes(context, "take_batch_form"));
  return std::make_shared<const ReadModule>(std::move(module));
}

// Nothing: the model is another one at one of the sizes, or cannot have it.
std::optional<SampledNumbers> BatchForm::common_numbers() const {
  SampledNumbers numbers;
  std::string ignored;
  // The third one tells numbers that do not follow the rows by a line. The first constants have all
  // elements.
  for (const std::int64_t rows : {small_ * large_, large_, small_}) {
    const auto module = settled(rows);
    if (!module) return std::nullopt;
    const bool is_first = rows == small_ * large_;
    if (!is_first && !have_same_form(numbers.first(), **module, ignored)) return std::nullopt;
    numbers.add({rows}, *module);
  }
  return numbers;
}

SampledNumbers* BatchForm::numbers() {
  if (!is_known_) {
    is_known_ = true;
    std::string ignored;
    if (SampledNumbers* const others = like_ == nullptr ? nullptr : like_->numbers()) {
      const auto module = settled(small_);
      const bool is_alike = module && have_same_form(others->first(), **module, ignored);
      if (is_alike) numbers_ = others->in_proportion(small_, *module);
    }
    if (!numbers_) numbers_ = common_numbers();
  }
  return numbers_ ? &*numbers_ : nullptr;
}

Result<std::unique_ptr<xla::HloModule>> BatchForm::at(std::int64_t rows) {
  if (numbers() == nullptr) return fail(Error("batch sizes have no form in common"));
  return numbers()->module_at({rows});
}

bool BatchForm::is_form_of(const ReadModule& module) {
  std::string ignored;
  if (like_ != nullptr && like_->is_form_of(module)) return true;
  return numbers() != nullptr && have_same_form(numbers()->first(), module, ignored);
}

Result<std::unique_ptr<xla::HloModule>> BatchForm::two_rows(const PassContext& context) {
  Result<std::unique_ptr<xla::HloModule>> module = at(2);
  if (!module) {
    TFAOT_ASSIGN(const SharedModule own, settled(2));
    module = own->module->Clone("");
  }
  PassContext own{**module, context.inputs, context.choices, context.weights};
  TFAOT_TRY(run_passes_after("take_batch_form", "take_batch_kernels", own));
  return module;
}

Status take_batch_form(xla::HloModule& module, PassContext& context) {
  if (context.batch_form == nullptr) return {};
  // Its own numbers are right, even if those of other sizes follow another rule.
  if (context.batch_form->is_form_of(ReadModule(module.Clone("")))) return {};
  // Not made: the model does else for this batch size, or cannot be so small.
  const auto made = context.batch_form->at(rows_of(module));
  if (!made || !have_same_shapes(module, **made)) return {};
  return replace_module(module, **made);
}

// A sum that is contiguous for a row alone may get another kernel than in a batch.
Status take_batch_kernels(xla::HloModule& module, PassContext& context) {
  if (context.batch_form == nullptr || rows_of(module) != 1) return {};
  const auto two = context.batch_form->two_rows(context);
  if (!two ||
      are_alike(arithmetic_of(module, context.inputs), arithmetic_of(**two, context.inputs))) {
    return {};
  }
  TFAOT_TRY(take_one_of_two(**two, context.inputs));
  return have_same_shapes(module, **two) ? replace_module(module, **two) : Status();
}

}  // namespace tfaot::toolkit::engine
