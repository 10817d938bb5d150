// SPDX-License-Identifier: Apache-2.0
#include "pages/validation_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "pages/page_parts.h"
#include "text/validation_report.h"
#include "tfaot/base/text.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using report::Bars;
using report::Callout;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;
using report::Verdict;

constexpr double kMostPercent = 1000;  // that a bar shows

double shown_percent(const ValidatedOutput& output) {
  return std::min(100 * share_of_allowed(output), kMostPercent);
}

Cell amount_cell(double amount) { return {.text = amount_text(amount), .number = amount}; }

Verdict verdict_of(const ValidatedOutput& output) {
  if (output.passed) return Verdict::kGood;
  return output.counts ? Verdict::kBad : Verdict::kWarning;
}

// Of each batch and CPU level the worst output; only those that count.
std::vector<ValidatedOutput> by_batch(const std::vector<ValidatedOutput>& outputs) {
  using Key = std::tuple<std::int64_t, Composition, std::string>;
  std::map<Key, ValidatedOutput> worst;
  for (const ValidatedOutput& one : outputs) {
    if (!one.counts) continue;
    const auto [found, is_new] = worst.try_emplace({one.rows, one.composition, one.cpu_level}, one);
    if (!is_new && is_worse(one, found->second)) found->second = one;
  }
  std::vector<ValidatedOutput> list;
  for (auto& [key, one] : worst) list.push_back(std::move(one));
  return list;
}

Bars batches_chart(const std::vector<ValidatedOutput>& batches,
                   const std::vector<std::string>& levels) {
  Bars bars{.caption = "Largest difference by rows, in % of what is allowed"};
  if (levels.size() <= report::kMostSeries) bars.series = levels;
  for (const ValidatedOutput& one : batches) {
    const auto level = std::ranges::find(levels, one.cpu_level) - levels.begin();
    bars.bars.push_back({fmt::format("{}, {}", one.rows, word_of(one.composition)),
                         shown_percent(one), allowed_text(one),
                         bars.series.empty() ? 0 : static_cast<std::size_t>(level)});
  }
  return bars;
}

std::vector<report::Highlight> highlights_of(const ValidationResult& result,
                                             const std::vector<ValidatedOutput>& batches) {
  std::uint64_t numbers = 0;
  for (const ValidatedOutput& one : result.outputs) numbers += one.difference.numbers;
  std::vector<report::Highlight> highlights;
  const auto worst = std::ranges::max_element(
      batches, [](const auto& a, const auto& b) { return is_worse(b, a); });
  if (worst != batches.end()) {
    const ArrayDifference& difference = worst->difference;
    highlights.push_back(
        {"largest difference", allowed_text(*worst) + " of what is allowed",
         fmt::format("{} of {} allowed, beside numbers up to {}", amount_text(difference.largest),
                     amount_text(worst->allowed), amount_text(difference.scale))});
  }
  highlights.push_back({"numbers compared",
                        report::grouped_digits(static_cast<std::int64_t>(numbers)),
                        counted(result.summary.cpu_levels.size(), "CPU level")});
  highlights.push_back({"numbers of rows", std::to_string(result.summary.rows.size()),
                        fmt::format("{}", fmt::join(result.summary.rows, ", "))});
  return highlights;
}

Section overview(const ValidationResult& result) {
  report::Facts facts;
  facts.facts = {{"reference", reference_text(result)},
                 {"CPU levels", join(result.summary.cpu_levels, ", ")},
                 {"not run here", join(result.skipped_levels, ", ")},
                 {"tolerance", tolerance_text(result.summary.tolerance)},
                 {"not compared", not_compared_text(result)}};
  return {"Overview", {}, {std::move(facts)}};
}

Section outputs_section(const ValidationResult& result) {
  Section section{"Outputs", {}, {differences_table(result.summary.outputs)}};
  for (const std::string& line : moves_lines(result.summary.outputs)) {
    section.blocks.emplace_back(Callout{.text = line + "."});
  }
  for (const RefusedInputs& one : result.refused) {
    section.blocks.emplace_back(Callout{
        Verdict::kNote,
        fmt::format("Inputs '{}' are left out: the model does not take them.", word_of(one.inputs)),
        {one.why}});
  }
  return section;
}

}  // namespace

report::Table differences_table(const std::vector<ValidatedOutput>& outputs) {
  Table table{.caption = "The largest differences",
              .columns = {{"output", ColumnKind::kCode},
                          {"inputs"},
                          {"predictions"},
                          {"of allowed", ColumnKind::kNumber},
                          {"largest", ColumnKind::kNumber},
                          {"mean", ColumnKind::kNumber},
                          {"relative", ColumnKind::kNumber},
                          {"ULPs", ColumnKind::kNumber},
                          {"not finite", ColumnKind::kNumber},
                          {"where"}}};
  for (const ValidatedOutput& one : outputs) {
    const ArrayDifference& difference = one.difference;
    table.rows.push_back({{one.output},
                          {word_of(one.inputs)},
                          {.text = outcome_text(one), .verdict = verdict_of(one)},
                          {.text = allowed_text(one), .number = shown_percent(one)},
                          amount_cell(difference.largest),
                          amount_cell(difference.mean),
                          amount_cell(relative_difference(difference)),
                          number_cell(static_cast<std::int64_t>(difference.ulps)),
                          number_cell(static_cast<std::int64_t>(difference.nonfinite)),
                          {place_text(one)}});
  }
  return table;
}

report::Page validation_page(const ValidationResult& result) {
  report::Page page;
  page.kind = "validation";
  page.title = result.manifest.name + " " + result.manifest.version;
  page.badge = result.passed() ? report::Badge{Verdict::kGood, "predicts as the model does"}
                               : report::Badge{Verdict::kBad, "does not predict as the model does"};
  page.summary = result.manifest.description;
  const std::vector<ValidatedOutput> batches = by_batch(result.outputs);
  page.highlights = highlights_of(result, batches);
  page.sections = {overview(result),
                   outputs_section(result),
                   {"Batches",
                    {},
                    {report::Text{"Random inputs or those of the file, zeros and ones. The other "
                                  "inputs are in the table above, and all figures in the data of "
                                  "this page."},
                     batches_chart(batches, result.summary.cpu_levels)}}};
  return page;
}

}  // namespace tfaot::toolkit
