// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// JSON knows no infinity.
constexpr double kLargest = 1e300;

double number_of(const std::string& word) {
  return std::min(std::strtod(word.c_str(), nullptr), kLargest);
}

}  // namespace

Result<std::unique_ptr<RunnerProcess>> RunnerProcess::start(const FileSystem& files,
                                                            const RunnerSpec& spec) {
  ConversationSpec process;
  const bool is_child = spec.under.empty();
  process.program = is_child ? spec.program : Path(spec.under.front());
  if (!is_child) {
    process.arguments.assign(spec.under.begin() + 1, spec.under.end());
    process.arguments.push_back(spec.program.string());
  }
  process.arguments.insert(process.arguments.end(), spec.settings.begin(), spec.settings.end());
  process.arguments.push_back(is_child ? fmt::format("parent={}", ::getpid()) : "watched=yes");
  process.environment = spec.environment;
  process.timeout = spec.timeout;
  process.memory = spec.memory;
  TFAOT_ASSIGN(auto conversation, Conversation::start(process));
  TFAOT_ASSIGN(std::string line, conversation.hear());
  // The program around it may say something first.
  while (!is_child && !line.starts_with("ready ")) {
    TFAOT_ASSIGN(line, conversation.hear());
  }
  const std::vector<std::string> words = split_words(line);
  if (words.size() != 2 || words[0] != "ready") {
    return fail(Error::internal(fmt::format("the runner said '{}' instead of 'ready'", line)));
  }
  std::unique_ptr<RunnerProcess> runner(new RunnerProcess(files, std::move(conversation)));
  runner->load_time_ = number_of(words[1]);
  return runner;
}

// `words`: as many are expected; 0: any number.
Result<std::vector<std::string>> RunnerProcess::ask(const std::string& question,
                                                    std::size_t words) {
  TFAOT_ASSIGN(const std::string answer, conversation_.ask(question));
  std::vector<std::string> found = split_words(answer);
  if (words == 0 || found.size() == words) return found;
  return fail(Error::internal(fmt::format("the runner answered '{}' to '{}'", answer, question)));
}

Result<Disagreement> RunnerProcess::prepare(std::int64_t rows) {
  TFAOT_ASSIGN(const auto words, ask(fmt::format("prepare {}", rows), 3));
  return Disagreement{number_of(words[1]), number_of(words[2])};
}

Result<Timing> RunnerProcess::time(std::int64_t calls) {
  TFAOT_ASSIGN(const auto words, ask(fmt::format("time {}", calls), 2));
  return Timing{number_of(words[0]), number_of(words[1])};
}

Result<std::optional<Allocations>> RunnerProcess::allocations(std::int64_t calls) {
  TFAOT_ASSIGN(const auto words, ask(fmt::format("allocations {}", calls), 0));
  if (words.size() != 2) return std::optional<Allocations>();
  return std::make_optional<Allocations>({number_of(words[0]), number_of(words[1])});
}

Result<std::vector<double>> RunnerProcess::operations(std::int64_t calls) {
  TFAOT_ASSIGN(const auto words, ask(fmt::format("operations {}", calls), 0));
  return mapped(words, [&](const std::string& word) { return number_of(word); });
}

Result<MemoryUse> RunnerProcess::memory() {
  const Path file = fmt::format("/proc/{}/smaps_rollup", conversation_.process());
  TFAOT_ASSIGN(const std::string text, files_.read(file));
  return memory_of(text);
}

Status RunnerProcess::write_outputs(const Path& prefix) {
  TFAOT_TRY(conversation_.ask("write " + prefix.string()));
  return {};
}

MemoryUse memory_of(const std::string& smaps_rollup) {
  MemoryUse use;
  for (const std::string& line : split_lines(smaps_rollup)) {
    const std::int64_t bytes =
        std::strtoll(line.substr(std::min(line.size(), line.find(':') + 1)).c_str(), nullptr, 10) *
        1024;
    if (line.starts_with("Rss:")) use.resident = bytes;
    if (line.starts_with("Pss:")) use.proportional = bytes;
  }
  return use;
}

}  // namespace tfaot::toolkit
