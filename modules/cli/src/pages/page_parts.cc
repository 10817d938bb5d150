// SPDX-License-Identifier: Apache-2.0
#include "pages/page_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/tuning_tables.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {

std::string counted(std::size_t count, const std::string& word) {
  return fmt::format("{} {}{}", report::grouped_digits(static_cast<std::int64_t>(count)), word,
                     count == 1 ? "" : "s");
}

report::Facts facts_block(const std::vector<Fact>& facts, const std::vector<std::string>& without) {
  report::Facts block;
  for (const Fact& fact : facts) {
    if (std::find(without.begin(), without.end(), fact.label) == without.end()) {
      block.facts.push_back({fact.label, fact.value});
    }
  }
  return block;
}

report::Cell number_cell(std::int64_t number) {
  return {.text = report::grouped_digits(number), .number = static_cast<double>(number)};
}

report::Cell microseconds_cell(double ns) { return {.text = microseconds(ns), .number = ns}; }

}  // namespace tfaot::toolkit
