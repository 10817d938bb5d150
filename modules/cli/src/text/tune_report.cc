// SPDX-License-Identifier: Apache-2.0
#include "text/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/text_table.h"
#include "tfaot/base/text.h"
#include "tfaot/tune/plan.h"

namespace tfaot::toolkit {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::array<std::size_t, 12> kShownRows = {1, 2, 3, 5, 8, 16, 32, 64, 100, 128, 256, 1000};

std::string microseconds(double ns) { return fmt::format("{:.3f}", ns / 1000); }

// "4 x 64, 1, 2 (1 of padding)"
std::string chunks_text(const PlannedRows& planned) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < planned.chunks.size();) {
    std::size_t count = 0;
    const std::size_t size = planned.chunks[i];
    while (i < planned.chunks.size() && planned.chunks[i] == size) ++i, ++count;
    parts.push_back(count == 1 ? std::to_string(size) : fmt::format("{} x {}", count, size));
  }
  const std::string padding =
      planned.padding == 0 ? "" : fmt::format(" ({} of padding)", planned.padding);
  return join(parts, ", ") + padding;
}

void add_size(Rows& rows, const SizeCost& cost) {
  rows.push_back({fmt::format("  {}", cost.size), microseconds(cost.ns),
                  microseconds(cost.ns / static_cast<double>(cost.size)),
                  std::to_string(cost.bytes),
                  cost.compiled ? "compiled, measured" : "not compiled, both estimated"});
}

std::string numbers(const std::vector<SizeCost>& sizes) {
  std::vector<std::string> words;
  for (const SizeCost& cost : sizes) words.push_back(std::to_string(cost.size));
  return join(words, ", ");
}

void add_set(Rows& rows, const std::string& label, const SizeSet& set) {
  rows.push_back({"  " + label, microseconds(set.ns), microseconds(set.row_ns),
                  std::to_string(set.bytes), numbers(set.sizes)});
}

}  // namespace

std::string tuning_text(const Manifest& manifest) {
  Tuning tuning = *manifest.tuning;
  std::stable_sort(
      tuning.calls.begin(), tuning.calls.end(),
      [](const TunedCall& a, const TunedCall& b) { return a.cpu_level < b.cpu_level; });
  Rows costs = {{"  CPU level", "batch size", "us/call", "us/row", "95 % interval", "timings"}};
  for (const TunedCall& call : tuning.calls) {
    costs.push_back({"  " + call.cpu_level, std::to_string(call.batch_size), microseconds(call.ns),
                     microseconds(call.ns / static_cast<double>(call.batch_size)),
                     microseconds(call.low) + " to " + microseconds(call.high),
                     std::to_string(call.repeats)});
  }
  std::string measured = fmt::format("measured on {}\n{}", tuning.cpu, text_table(costs));
  if (manifest.rows == RowsMode::kCoupled) return measured;  // nothing is composed
  const LevelCosts level = highest_level(manifest);
  Rows plans = {{"  rows", "us/call", "us/row", "run as"}};
  for (const std::size_t rows : kShownRows) {
    const PlannedRows planned = plan_rows(level, rows);
    plans.push_back({fmt::format("  {}", rows), microseconds(planned.ns),
                     microseconds(planned.ns / static_cast<double>(rows)), chunks_text(planned)});
  }
  return fmt::format("{}\nwith CPU level {}\n{}", measured, level.cpu_level, text_table(plans));
}

std::string suggestion_text(const Suggestion& suggestion) {
  Rows sizes = {{"  batch size", "us/call", "us/row", "bytes", ""}};
  for (const SizeCost& cost : suggestion.suggested.sizes) add_size(sizes, cost);
  Rows sets = {{"", "us/call", "us/row", "bytes", "batch sizes"}};
  add_set(sets, "suggested", suggestion.suggested);
  add_set(sets, "compiled now", suggestion.compiled);
  return fmt::format(
      "by the costs of CPU level {}\n{}\non average\n{}\ncompilation:\n  batch_sizes: [{}]\n",
      suggestion.cpu_level, text_table(sizes), text_table(sets),
      numbers(suggestion.suggested.sizes));
}

}  // namespace tfaot::toolkit
