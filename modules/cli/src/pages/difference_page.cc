// SPDX-License-Identifier: Apache-2.0
#include "pages/difference_page.h"

#include <fmt/format.h>

#include "pages/page_parts.h"
#include "text/describe.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using report::ColumnKind;
using report::Verdict;

std::string full_name(const Manifest& manifest) { return manifest.name + " " + manifest.version; }

struct DifferenceGroup {
  DifferenceKind kind;
  const char* title;
  ColumnKind what;
};

report::Section group_section(const DifferenceGroup& group, const std::vector<Difference>& found) {
  report::Table table{.caption = fmt::format("{} that differ", group.title),
                      .columns = {{"what", group.what}, {"first"}, {"second"}},
                      .empty = "no difference"};
  for (const Difference& one : found) {
    if (one.kind != group.kind) continue;
    const auto cell = [](const std::string& value) {
      return value.empty() ? report::Cell{.text = "missing", .verdict = Verdict::kWarning}
                           : report::Cell{value};
    };
    table.rows.push_back({{one.what}, cell(one.first), cell(one.second)});
  }
  const std::size_t count = table.rows.size();
  report::Badge badge = count == 0 ? report::Badge{Verdict::kGood, "same"}
                                   : report::Badge{Verdict::kNote, counted(count, "difference")};
  report::Section section{group.title, std::move(badge), {}};
  if (count > 0) section.blocks.emplace_back(std::move(table));
  return section;
}

report::Bars sizes_chart(const PackageSizes& first, const PackageSizes& second) {
  report::Bars bars{.caption = "Bytes", .series = {"first", "second"}};
  const auto add = [&](const char* label, std::uint64_t one, std::uint64_t other) {
    bars.bars.push_back({label, static_cast<double>(one), report::bytes_text(one), 0});
    bars.bars.push_back({label, static_cast<double>(other), report::bytes_text(other), 1});
  };
  add("code", first.code, second.code);
  add("weights", first.weights, second.weights);
  add("headers", first.headers, second.headers);
  return bars;
}

}  // namespace

report::Page difference_page(const ComparedPackage& first, const ComparedPackage& second,
                             const std::vector<Difference>& found) {
  report::Page page;
  page.kind = "comparison";
  page.title = fmt::format("{} and {}", full_name(first.manifest), full_name(second.manifest));
  page.badge = found.empty() ? report::Badge{Verdict::kGood, "no difference"}
                             : report::Badge{Verdict::kNote,
                                             contents_verdict(first.manifest, second.manifest)};
  page.summary = found.empty() ? "Both packages have the same contents."
                               : counted(found.size(), "difference") +
                                     ", by the manifests, which hold a hash of every file.";
  report::Section overview;
  overview.title = "Overview";
  overview.blocks = {report::Facts{{{"first", first.path}, {"second", second.path}}},
                     sizes_chart(package_sizes(first.manifest), package_sizes(second.manifest))};
  page.sections.push_back(std::move(overview));
  for (const DifferenceGroup& group :
       {DifferenceGroup{DifferenceKind::kFact, "Facts", ColumnKind::kText},
        DifferenceGroup{DifferenceKind::kTensor, "Inputs and outputs", ColumnKind::kCode},
        DifferenceGroup{DifferenceKind::kFile, "Files", ColumnKind::kCode}}) {
    page.sections.push_back(group_section(group, found));
  }
  return page;
}

}  // namespace tfaot::toolkit
