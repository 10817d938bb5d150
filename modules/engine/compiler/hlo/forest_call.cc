// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/forest_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr const char* kForestAttribute = "tfaot_forest";

}  // namespace

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

std::vector<std::int64_t> forest_words(const xla::HloInstruction& instruction) {
  if (instruction.opcode() != xla::HloOpcode::kCall) return {};
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

}  // namespace tfaot::toolkit::engine
