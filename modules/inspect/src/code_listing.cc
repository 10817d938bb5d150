// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/code_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

bool goes_on(char c) { return is_letter_or_digit(c) || c == '_'; }

bool mentions(const std::string& line, const std::string& symbol) {
  for (auto at = line.find(symbol); at != std::string::npos; at = line.find(symbol, at + 1)) {
    const std::size_t end = at + symbol.size();
    if ((at == 0 || !goes_on(line[at - 1])) && (end == line.size() || !goes_on(line[end]))) {
      return true;
    }
  }
  return false;
}

// Without the lines that name the object.
std::string without_head(const std::string& text) {
  const auto start = text.find("\nDisassembly of section");
  return start == std::string::npos ? text : text.substr(start + 1);
}

}  // namespace

CodeListing marked_listing(std::string text, const std::vector<std::string>& kernels) {
  CodeListing listing{std::move(text), {}};
  std::size_t number = 0;
  for (const std::string& line : split_lines(listing.text)) {
    ++number;
    if (line.starts_with("declare ")) continue;
    if (std::ranges::any_of(kernels, [&](const auto& symbol) { return mentions(line, symbol); })) {
      listing.calls.push_back(number);
    }
  }
  return listing;
}

Result<CodeListing> disassembled(const Path& object, const std::vector<std::string>& kernels) {
  ProcessSpec process;
  process.program = "objdump";
  process.arguments = {"--disassemble", "--reloc", "--no-show-raw-insn", object.string()};
  process.environment = {{"LC_ALL", "C"}};
  process.timeout = std::chrono::minutes(2);
  TFAOT_ASSIGN(const ProcessResult result,
               run_tool(process, {"'objdump', which shows the assembly, cannot be started",
                                  "install it (Debian: binutils)"}));
  if (!result.ok()) {
    return fail(with_last_words(
        Error(fmt::format("objdump cannot show {}", object.filename().string())), result));
  }
  return marked_listing(without_head(result.standard_output), kernels);
}

}  // namespace tfaot::toolkit
