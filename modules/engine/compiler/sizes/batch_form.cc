// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/batch_form.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/code/optimize.h"
#include "compiler/rows/row_check.h"

namespace tfaot::toolkit::engine {
namespace {

Result<SharedModule> settled(const Lowering& lowering, std::int64_t rows, const Choices& choices,
                             WeightStore& weights) {
  TFAOT_ASSIGN(const LoweredModel lowered, lowering.lower(rows));
  TFAOT_ASSIGN(auto module, make_module(lowered.computation.proto()));
  PassContext context{*module, std::ssize(lowered.inputs), choices, &weights};
  TFAOT_TRY(run_passes(context, "take_batch_form"));
  return std::make_shared<const ReadModule>(std::move(module));
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

}  // namespace

std::optional<BatchForm> BatchForm::find(const Lowering& lowering, const LoweredModel& lowered,
                                         const Choices& choices, WeightStore& weights) {
  if (lowering.has_fixed_batch()) return std::nullopt;
  const auto [small, large] = telling_batch_sizes(lowered);
  BatchForm form;
  std::string ignored;
  for (const std::int64_t rows : {large, small}) {  // the first constants have all elements
    const auto module = settled(lowering, rows, choices, weights);
    if (!module) return std::nullopt;  // it cannot have so many rows
    if (rows == small && !have_same_form(form.numbers_.first(), **module, ignored)) {
      return std::nullopt;
    }
    form.numbers_.add({rows}, *module);
  }
  return form;
}

Status take_batch_form(xla::HloModule& module, PassContext& context) {
  if (context.batch_form == nullptr) return {};
  const std::int64_t rows = size_of(*module.entry_computation()->parameter_instruction(0), 0);
  if (context.batch_form->holds(rows, ReadModule(module.Clone("")))) return {};
  // A model that does else for this batch size, or cannot be so small.
  const auto made = context.batch_form->at(rows);
  if (!made || !have_same_shapes(module, **made)) return {};
  return replace_module(module, **made);
}

}  // namespace tfaot::toolkit::engine
