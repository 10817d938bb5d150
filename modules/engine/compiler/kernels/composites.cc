// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/composites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/kernel_facts.h"
#include "xla/service/call_inliner.h"

namespace tfaot::toolkit::engine {
namespace {

struct CompositeRow {
  std::string name;
  HloInstruction* (*taken)(HloInstruction& call, const std::vector<std::int64_t>& numbers);
};

// Null for other instructions.
const CompositeRow* composite_row(const HloInstruction& one) {
  static const CompositeRow kRows[] = {
#define TFAOT_COMPOSITE(name, numbers) {"tfaot." #name, taken_##name},
#include "compiler/kernels/composites.def"
#undef TFAOT_COMPOSITE
  };
  if (one.opcode() != kCall || !one.is_composite()) return nullptr;
  const auto* const row = std::ranges::find(
      kRows, one.frontend_attributes().map().at("composite.name"), &CompositeRow::name);
  return row == std::end(kRows) ? nullptr : row;
}

std::vector<std::int64_t> composite_numbers(const HloInstruction& call) {
  std::vector<std::int64_t> numbers;
  const std::string& text = call.frontend_attributes().map().at("composite.attributes");
  for (const auto part : absl::StrSplit(text, ',')) {
    if (!absl::SimpleAtoi(part, &numbers.emplace_back())) return {};
  }
  return numbers;
}

// ---- Facts.

struct ForestFacts {
  using Call = kernels::ForestCall;

  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    return rows.divide(call.rows) && is_first_in_order(one, rows) && others_are_weights(one, rows);
  }
  static double cycles(const Call& /*call*/, const HloInstruction& one, const ProgramSpeed& speed) {
    const double steps = static_cast<double>(forest_size(one).steps) * kTreeStepCycles;
    return call_cycles(one, speed) +
           std::max(steps, bytes_of(one.operand(2)->shape()) * speed.weight_cycles());
  }
  static KernelWork work(const Call& call, const HloInstruction& one) {
    const ForestSize size = forest_size(one);
    return {fmt::format("{} rows through {} trees, at most {} steps", call.rows, size.trees,
                        size.depth),
            size.steps};
  }
};

}  // namespace

constinit const KernelFacts kForestFacts = facts_of<ForestFacts>();

HloInstruction* taken_forest(HloInstruction& forest, const std::vector<std::int64_t>& words) {
  if (words.size() * sizeof words[0] < sizeof(kernels::ForestCall)) return nullptr;
  return add_kernel_call({.kernel = Kernel::kForest,
                          .words = words,
                          .operands = operands_of(forest),
                          .result = dimensions_of(forest)},
                         forest);
}

xla::XlaOp composite(const std::string& name, const std::vector<std::int64_t>& numbers,
                     const xla::XlaComputation& body, absl::Span<const xla::XlaOp> operands) {
  return xla::CompositeCall(operands.front().builder(), body, operands, "tfaot." + name,
                            fmt::format("{}", fmt::join(numbers, ",")));
}

Status choose_composite(HloInstruction& call, PassContext& context) {
  const CompositeRow* const row = composite_row(call);
  if (row == nullptr) return {};
  // What depends on weights alone is folded, which no kernel is.
  const auto before = reached_from(call, [](const HloInstruction& one) { return one.operands(); });
  const bool has_inputs = std::ranges::any_of(before, [&](const HloInstruction* one) {
    return one->opcode() == kParameter && (one->parent() != context.module.entry_computation() ||
                                           one->parameter_number() < context.inputs);
  });
  HloInstruction* const made = has_inputs ? row->taken(call, composite_numbers(call)) : nullptr;
  if (made != nullptr) return replace(call, made);
  return checked(xla::CallInliner::Inline(&call).status());
}

}  // namespace tfaot::toolkit::engine
