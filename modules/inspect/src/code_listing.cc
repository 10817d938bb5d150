// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/code_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/records/symbols.h"

namespace tfaot::toolkit {
namespace {

// In the names of XLA's kernels for CPUs (xla/service/cpu/cpu_runtime.h).
constexpr auto kKernelWords = std::to_array<std::string_view>(
    {"ACL", "Conv2D", "Conv3D", "Fft", "KeyValueSort", "MatMul", "OneDnn", "TopK"});

// Far more than anyone reads, but objects of other programs may have any size.
constexpr std::size_t kMostAssembly = std::size_t{256} << 20;

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

bool is_kernel_symbol(const std::string& symbol) {
  if (symbol.starts_with(kSymbolPrefix)) return true;
  return std::ranges::any_of(
      kKernelWords, [&](std::string_view word) { return symbol.find(word) != std::string::npos; });
}

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
  std::string text;
  bool is_cut = false;
  process.on_stdout_line = [&](const std::string& line) {
    is_cut = is_cut || text.size() + line.size() > kMostAssembly;
    if (!is_cut) text += line + "\n";
  };
  TFAOT_ASSIGN(const ProcessResult result,
               run_tool(process, {"'objdump', which shows the assembly, cannot be started",
                                  "install it (Debian: binutils)"}));
  if (!result.ok()) {
    return fail(with_last_words(
        Error(fmt::format("objdump cannot show {}", object.filename().string())), result));
  }
  if (is_cut) text += "... cut here: the object has more\n";
  return marked_listing(without_head(text), kernels);
}

}  // namespace tfaot::toolkit
