// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/passes.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "compiler/hlo/foreign_operations.h"
#include "compiler/hlo/simplify.h"

namespace tfaot::toolkit::engine {
namespace {

using enum Fact;

Status run_over(PassContext& context, Status (*function)(xla::HloModule&, PassContext&)) {
  return function(context.module, context);
}

// Operands come before what is computed from them.
Status run_over(PassContext& context, Status (*function)(xla::HloInstruction&, PassContext&)) {
  for (xla::HloComputation* computation : context.module.MakeComputationPostOrder()) {
    for (xla::HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      const std::int64_t before = computation->instruction_count();
      TFAOT_TRY(function(*instruction, context));
      if (computation->instruction_count() > before) {
        context.rewritten.emplace_back(instruction->name());
      }
    }
  }
  return {};
}

template <typename Over, Status (*kFunction)(Over&, PassContext&)>
Status run(PassContext& context) {
  context.begin_pass();
  TFAOT_TRY(run_over(context, kFunction));
  return remove_dead_code(context.module);
}

template <typename Over>
constexpr bool is_of_one = std::is_same_v<Over, xla::HloInstruction>;

#define NEEDS(...) \
  { __VA_ARGS__ }
#define GIVES NEEDS
#define ENDS NEEDS
#define TFAOT_PASS(file, over, function, needs, gives, ends, stage, why) \
  Pass{#function, run<xla::over, function>, why, needs, gives, ends, stage, is_of_one<xla::over>},
constexpr std::array kPasses = {
#include "compiler/hlo/passes.def"
};
#undef TFAOT_PASS
#undef ENDS
#undef GIVES
#undef NEEDS

// The first pass whose needs are not met, or the number of passes.
consteval std::size_t first_out_of_order() {
  Facts holds = kLoweredFacts;
  for (std::size_t i = 0; i < kPasses.size(); ++i) {
    if (!holds.contain(kPasses[i].needs)) return i;
    holds = holds.without(kPasses[i].ends).with(kPasses[i].gives);
  }
  return kPasses.size();
}
static_assert(first_out_of_order() == kPasses.size(), "a pass needs what does not hold there");

}  // namespace

Status check_random_numbers(xla::HloModule& module, PassContext& /*context*/) {
  return check_random_numbers(module);
}

std::span<const Pass> passes() { return kPasses; }

const Pass* find_pass(std::string_view name) {
  const auto* const found = std::ranges::find(kPasses, name, &Pass::name);
  return found == kPasses.end() ? nullptr : found;
}

Status run_passes(PassContext& context, std::string_view last, const PassViewer& viewer) {
  for (const Pass& pass : kPasses) {
    TFAOT_TRY(pass.run(context));
    if (viewer) TFAOT_TRY(viewer(pass));
    if (pass.name == last) break;
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
