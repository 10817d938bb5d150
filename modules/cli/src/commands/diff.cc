// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/page_parts.h"
#include "text/compare.h"
#include "text/describe.h"
#include "tfaot/records/manifest.h"
#include "tfaot/report/page.h"
#include "tfaot/report/quantities.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {
namespace {

using report::ColumnKind;
using report::Verdict;

// What `tfaot diff --html` shows.

// A package, and the path that the user gave.
struct ComparedPackage {
  const Manifest& manifest;
  const std::string& path;
};

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

struct DiffArguments {
  std::string first;
  std::string second;
  bool json = false;
  HtmlOption html;
};

Status diff(const DiffArguments& options, Program& program) {
  TFAOT_TRY(options.html.check(program));
  TFAOT_ASSIGN(const Manifest first, read_package(program, program.absolute(options.first)));
  TFAOT_ASSIGN(const Manifest second, read_package(program, program.absolute(options.second)));
  const std::vector<Difference> found = differences(first, second);
  const std::string verdict = contents_verdict(first, second);
  const nlohmann::ordered_json json = differences_to_json(found, verdict);
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(
        program, difference_page({first, options.first}, {second, options.second}, found), json));
  }
  program.console.print(options.json
                            ? json_text(json)
                            : differences_text(found, verdict, {options.first, options.second}));
  return {};
}

}  // namespace

Action add_diff(CLI::App& app) {
  auto options = std::make_shared<DiffArguments>();
  app.add_option("A", options->first, kPackageHelp)->required()->option_text(" ");
  app.add_option("B", options->second, "another one")->required()->option_text(" ");
  app.add_flag("--json", options->json, "print JSON instead of a table");
  options->html.add_to(app);
  app.footer(
      "Compares the manifests, which hold a hash of every file. The exit code is 0 whether the\n"
      "packages differ or not; with --json, 'equal' says it.\n"
      "Examples:\n"
      "  tfaot diff dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst build/tagger\n"
      "  tfaot diff old/tagger build/tagger --html changes.html");
  return [options](Program& program) { return diff(*options, program); };
}

}  // namespace tfaot::toolkit
