// SPDX-License-Identifier: Apache-2.0
#include "hook/hook_block.h"

#include <fmt/format.h>

#include <string_view>

namespace tfaot::toolkit {
namespace {

// The newline before it is part of the block, because the file may end without one.
constexpr std::string_view kFirst = "\n# >>> tfaot scram-hook ";
constexpr std::string_view kLast = "# <<< tfaot scram-hook\n";

}  // namespace

std::optional<HookBlock> find_block(const std::string& text) {
  const std::size_t start = text.find(kFirst);
  if (start == std::string::npos) return std::nullopt;
  const std::size_t last = text.find(kLast, start);
  if (last == std::string::npos) return std::nullopt;
  const std::size_t version = start + kFirst.size();
  return HookBlock{start, last + kLast.size() - start,
                   text.substr(version, text.find_first_of(" \n", version) - version)};
}

std::string with_block(const std::string& text, const std::string& version) {
  return without_block(text) + fmt::format(
                                   "{}{} (remove it by: tfaot scram-hook remove)\n"
                                   "from SCRAM.Plugins import tfaot_hook\n"
                                   "tfaot_hook.add_to(BuildRules)\n"
                                   "{}",
                                   kFirst, version, kLast);
}

std::string without_block(const std::string& text) {
  const auto block = find_block(text);
  if (!block) return text;
  std::string rest = text;
  return rest.erase(block->start, block->size);
}

bool has_broken_block(const std::string& text) {
  const std::string rest = without_block(text);
  return rest.find(kFirst) != std::string::npos || rest.find(kLast) != std::string::npos;
}

}  // namespace tfaot::toolkit
