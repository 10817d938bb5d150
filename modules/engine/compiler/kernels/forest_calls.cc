// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/forest_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/kernel_facts.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr const char* kForestAttribute = "tfaot_forest";

// The struct and the blocks as the kernel reads them; empty for other instructions.
std::vector<std::int64_t> forest_words(const HloInstruction& instruction) {
  if (instruction.opcode() != kCall) return {};
  const auto found = instruction.frontend_attributes().map().find(kForestAttribute);
  if (found == instruction.frontend_attributes().map().end()) return {};
  std::vector<std::int64_t> words;
  for (const auto text : absl::StrSplit(found->second, ',')) {
    std::int64_t word = 0;
    if (!absl::SimpleAtoi(text, &word)) return {};
    words.push_back(word);
  }
  return words;
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

xla::FrontendAttributes forest_attributes(kernels::ForestCall call,
                                          const std::vector<kernels::ForestBlock>& blocks) {
  call.blocks = std::ssize(blocks);
  constexpr std::size_t kWord = sizeof(std::int64_t);
  std::vector<std::int64_t> words((sizeof call + blocks.size() * sizeof blocks[0]) / kWord);
  std::memcpy(words.data(), &call, sizeof call);
  std::memcpy(words.data() + sizeof call / kWord, blocks.data(), blocks.size() * sizeof blocks[0]);
  xla::FrontendAttributes attributes;
  (*attributes.mutable_map())[kForestAttribute] = fmt::format("{}", fmt::join(words, ","));
  return attributes;
}

Status replace_forest(HloInstruction& forest, PassContext& /*context*/) {
  std::vector<std::int64_t> words = forest_words(forest);
  if (words.empty()) return {};
  kernels::ForestCall call{};
  std::memcpy(&call, words.data(), sizeof call);
  KernelCall made{
      .kernel = Kernel::kForest, .words = std::move(words), .operands = operands_of(forest)};
  made.scratch_bytes = kernels::forest_scratch_bytes(call, element_bytes(*forest.operand(0)));
  TFAOT_TRY(replace_by_call(forest, std::move(made)));
  return checked(forest.parent()->RemoveInstruction(&forest));
}

}  // namespace tfaot::toolkit::engine
