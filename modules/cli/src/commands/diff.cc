// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest.h"
#include "tfaot/report/page.h"
#include "tfaot/workflow/load_package.h"

namespace tfaot::toolkit {
namespace {

using report::ColumnKind;
using report::Verdict;
using report::Where;

constexpr std::size_t kHashCharacters = 12;
constexpr std::size_t kLongestValue = 90;  // of a text

struct DifferenceGroup {
  const char* title;
  ColumnKind what;
  std::vector<Difference> found;
};

NamedValues fact_values(const Manifest& manifest) {
  return mapped(facts_of(manifest), [](const report::Fact& fact) {
    return std::pair(fact.label, replace_all(fact.value, "\n", ", "));
  });
}

NamedValues tensor_values(const Manifest& manifest) {
  NamedValues values = {{"signature", manifest.signature.key}};
  const auto add = [&](const char* role, const std::vector<TensorSpec>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorSpec& tensor = tensors[i];
      values.emplace_back(fmt::format("{} {}", role, tensor.name),
                          fmt::format("{} {}, number {}", word_of(tensor.dtype),
                                      shape_text(tensor, manifest), i + 1));
    }
  };
  add("input", manifest.signature.inputs);
  add("output", manifest.signature.outputs);
  return values;
}

NamedValues file_values(const Manifest& manifest) {
  return mapped(manifest.files, [](const ManifestFile& file) {
    return std::pair(file.path, fmt::format("{} bytes, sha256 {}", file.size,
                                            file.sha256.substr(0, kHashCharacters)));
  });
}

// In the order of `tfaot info`. Two packages without a difference have the same contents.
std::vector<DifferenceGroup> differences_of(const Manifest& first, const Manifest& second) {
  return {{"Facts", ColumnKind::kText, differences(fact_values(first), fact_values(second))},
          {"Inputs and outputs", ColumnKind::kCode,
           differences(tensor_values(first), tensor_values(second))},
          {"Files", ColumnKind::kCode, differences(file_values(first), file_values(second))}};
}

// "same code, other weights"
std::string contents_verdict(const Manifest& first, const Manifest& second) {
  const auto code_of = [](const Manifest& manifest) {
    std::map<std::string, std::string> code;
    for (const ManifestFile& file : manifest.files) {
      const bool is_weights =
          !manifest.weights.sha256.empty() && file.sha256 == manifest.weights.sha256;
      if (is_object_file(file.path) && !is_weights) code[file.path] = file.sha256;
    }
    return code;
  };
  const bool same_code = code_of(first) == code_of(second);
  const bool same_weights = first.weights.sha256 == second.weights.sha256;
  if (same_code && same_weights) return "same code, same weights";
  if (same_code) return "same code, other weights";
  return same_weights && !first.weights.sha256.empty() ? "other code, same weights" : "other code";
}

nlohmann::ordered_json differences_to_json(const std::vector<DifferenceGroup>& groups,
                                           const std::string& verdict) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DifferenceGroup& group : groups) {
    for (const Difference& one : group.found) {
      list.push_back({{"what", one.what}, {"first", one.first}, {"second", one.second}});
    }
  }
  return {{"equal", list.empty()}, {"verdict", verdict}, {"differences", std::move(list)}};
}

report::Section group_section(const DifferenceGroup& group) {
  report::Section section{group.title, {Verdict::kGood, "same"}, {}};
  if (group.found.empty()) return section;
  section.badge = {Verdict::kNote, counted(group.found.size(), "difference")};
  report::Table table{.caption = fmt::format("{} that differ", group.title),
                      .columns = {{"what", group.what}, {"first"}, {"second"}},
                      .most_bytes = kLongestValue};
  for (const Difference& one : group.found) {
    const auto cell = [](const std::string& value) {
      return value.empty() ? report::Cell{.text = "missing", .verdict = Verdict::kWarning}
                           : report::Cell{value};
    };
    table.rows.push_back({{one.what}, cell(one.first), cell(one.second)});
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

report::Bars sizes_chart(const PackageSizes& first, const PackageSizes& second) {
  report::Bars bars{.caption = "Bytes", .series = {"first", "second"}, .where = Where::kPage};
  const auto add = [&](const char* label, std::uint64_t one, std::uint64_t other) {
    bars.bars.push_back({label, static_cast<double>(one), report::bytes_text(one), 0});
    bars.bars.push_back({label, static_cast<double>(other), report::bytes_text(other), 1});
  };
  add("code", first.code, second.code);
  add("weights", first.weights, second.weights);
  add("headers", first.headers, second.headers);
  return bars;
}

// A package, and the path that the user gave.
struct ComparedPackage {
  const Manifest& manifest;
  const std::string& path;

  std::string full_name() const { return manifest.name + " " + manifest.version; }
};

report::Page difference_page(const ComparedPackage& first, const ComparedPackage& second,
                             const std::vector<DifferenceGroup>& groups) {
  std::size_t count = 0;
  for (const DifferenceGroup& group : groups) count += group.found.size();
  report::Page page;
  page.kind = "comparison";
  page.heading = fmt::format("{} and {}", first.path, second.path);
  page.title = fmt::format("{} and {}", first.full_name(), second.full_name());
  page.badge =
      count == 0 ? report::Badge{Verdict::kGood, "no difference"}
                 : report::Badge{Verdict::kNote, contents_verdict(first.manifest, second.manifest)};
  page.summary = count == 0 ? "Both packages have the same contents."
                            : counted(count, "difference") +
                                  ", by the manifests, which hold a hash of every file.";
  page.sections = {
      {report::kOverview,
       {},
       {report::Facts{{{"first", first.path, Where::kPage}, {"second", second.path, Where::kPage}}},
        sizes_chart(package_sizes(first.manifest), package_sizes(second.manifest))}}};
  for (const DifferenceGroup& group : groups) {
    page.sections.push_back(group_section(group));
    if (count == 0) page.sections.back().where = Where::kPage;
  }
  return page;
}

struct DiffArguments {
  std::string first;
  std::string second;
  HtmlOption html;
};

Status diff(const DiffArguments& options, Program& program) {
  TFAOT_TRY(options.html.check(program));
  const auto package = [&program](const std::string& path) {
    return find_package(program, {program.absolute(path), false, "tfaot diff"});
  };
  TFAOT_ASSIGN(const FoundPackage one, package(options.first));
  TFAOT_ASSIGN(const FoundPackage other, package(options.second));
  const Manifest& first = one.manifest;
  const Manifest& second = other.manifest;
  const std::vector<DifferenceGroup> found = differences_of(first, second);
  return options.html.show(program,
                           difference_page({first, options.first}, {second, options.second}, found),
                           differences_to_json(found, contents_verdict(first, second)));
}

}  // namespace

Action add_diff(CLI::App& app) {
  auto options = std::make_shared<DiffArguments>();
  add_value(app, "A", options->first, kPackageHelp)->required();
  add_value(app, "B", options->second, "another one")->required();
  options->html.add_to(app);
  app.footer(
      R"(Compares the manifests, which hold a hash of every file. The exit code is 0 whether the
packages differ or not; with --json, 'equal' says it.
Examples:
  tfaot diff dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst build/tagger
  tfaot diff old/tagger build/tagger --html changes.html)");
  return [options](Program& program) { return diff(*options, program); };
}

}  // namespace tfaot::toolkit
