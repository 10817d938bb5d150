// SPDX-License-Identifier: Apache-2.0
#include "pages/check_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "pages/page_parts.h"
#include "text/check_report.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using report::Callout;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;
using report::Verdict;

constexpr std::size_t kNamedNodes = 5;  // in a cell; the data have all

Verdict support_verdict(const CheckedOperation& row) {
  if (!row.traits.empty()) return Verdict::kWarning;
  switch (row.support) {
    case OperationSupport::kKernel:
    case OperationSupport::kStructure:
      return Verdict::kGood;
    case OperationSupport::kConstant:
      return Verdict::kWarning;
    case OperationSupport::kTypes:
    case OperationSupport::kRefused:
      break;
  }
  return Verdict::kBad;
}

std::string remarks_of(const CheckedOperation& row) {
  std::vector<std::string> remarks;
  for (const OperationTrait trait : row.traits) remarks.push_back(trait_text(trait));
  if (row.support == OperationSupport::kTypes) {
    remarks.push_back("has a kernel for " + allowed_types(row));
  }
  if (!row.advice.empty()) remarks.push_back("instead: " + row.advice);
  return join(remarks, "; ");
}

std::string node_names(const CheckedOperation& row) {
  std::vector<std::string> names;
  for (const CheckedNode& node : row.nodes) {
    if (names.size() == kNamedNodes) {
      names.push_back(fmt::format("and {} more", row.nodes.size() - kNamedNodes));
      break;
    }
    names.push_back(node.name);
  }
  return join(names, ", ");
}

Table checked_operations(const std::vector<CheckedOperation>& operations) {
  Table table{.caption = "Operations that the outputs need",
              .columns = {{"operation", ColumnKind::kCode},
                          {"nodes", ColumnKind::kNumber},
                          {"kernel"},
                          {"types"},
                          {"remarks"},
                          {"names of the nodes", ColumnKind::kCode}},
              .empty = "no operation was read"};
  for (const CheckedOperation& row : operations) {
    table.rows.push_back({{row.operation},
                          number_cell(static_cast<std::int64_t>(row.nodes.size())),
                          {.text = support_text(row), .verdict = support_verdict(row)},
                          {used_types(row)},
                          {remarks_of(row)},
                          {node_names(row)}});
  }
  return table;
}

// A row for each CPU level, a column for each batch size.
Table code_table(const SignatureCheck& check) {
  Table table{.caption = "Code by CPU level and batch size", .columns = {{"CPU level"}}};
  for (const std::int64_t size : check.batch_sizes) table.columns.push_back({std::to_string(size)});
  for (const std::string& level : check.cpu_levels) {
    const auto made = sizes_made(check, level);
    std::vector<Cell> cells = {{level}};
    for (const std::int64_t size : check.batch_sizes) {
      const bool is_made = std::ranges::find(made, size) != made.end();
      cells.push_back(is_made ? Cell{.text = "made", .verdict = Verdict::kGood}
                              : Cell{.text = "none", .verdict = Verdict::kBad});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Badge badge_of(bool compiles) {
  return compiles ? report::Badge{Verdict::kGood, "compiles"}
                  : report::Badge{Verdict::kBad, "does not compile"};
}

Section checked_signature(const SignatureCheck& check) {
  Section section;
  section.title = check.signature.empty() ? "Graph" : "Signature " + check.signature;
  section.badge = badge_of(check.compiles);
  for (const ModelProblem& problem : check.found.problems) {
    section.blocks.emplace_back(Callout{Verdict::kBad, problem.message, problem.notes});
  }
  for (const std::string& warning : check.warnings) {
    section.blocks.emplace_back(Callout{Verdict::kWarning, warning, {}});
  }
  section.blocks.emplace_back(
      report::Facts{{{"target", check.target_triple}, {"rows", word_of(check.rows)}}});
  if (!check.cpu_levels.empty()) section.blocks.emplace_back(code_table(check));
  section.blocks.emplace_back(checked_operations(check.found.operations));
  return section;
}

}  // namespace

report::Page check_page(const ModelCheck& check, const std::string& name) {
  report::Page page;
  page.kind = "check";
  page.title = name;
  page.badge = badge_of(check.compiles());
  page.summary = (check.is_config ? "The config of " : "This is ") + one_of(check.format) + ".";
  std::size_t problems = 0;
  std::size_t codes = 0;
  std::size_t operations = 0;
  for (const SignatureCheck& one : check.signatures) {
    problems += one.found.problems.size();
    codes += one.found.codes.size();
    operations = std::max(operations, one.found.operations.size());
    page.sections.push_back(checked_signature(one));
  }
  page.highlights = {
      {"problems", std::to_string(problems), ""},
      {"code made", std::to_string(codes), "for a batch size and a CPU level each"},
      {"operations", std::to_string(operations),
       check.signatures.size() > 1 ? "of the signature that has most" : "different ones"}};
  return page;
}

report::Page operations_page(const KnownOperations& known) {
  const bool is_onnx = known.format == ModelFormat::kOnnx;
  Table table{.caption = is_onnx ? "Operators of ONNX" : "Operations that XLA has kernels for",
              .columns = {{"operation", ColumnKind::kCode},
                          {is_onnx ? "from opset" : "types", ColumnKind::kCode},
                          {"inputs that must be constants", ColumnKind::kCode},
                          {"remarks"}}};
  for (const CheckedOperation& row : known.operations) {
    std::vector<std::string> traits;
    for (const OperationTrait trait : row.traits) traits.push_back(trait_text(trait));
    table.rows.push_back({{row.operation},
                          {is_onnx ? std::to_string(row.oldest_opset) : allowed_types(row)},
                          {join(row.constant_inputs, ", ")},
                          {join(traits, "; ")}});
  }
  report::Page page;
  page.kind = "operations";
  page.title = "What tfaot compiles";
  page.summary = is_onnx ? "Operators of ONNX models."
                         : fmt::format("Kernels of XLA for the device {}.", kCompiledDevice);
  page.highlights = {{"operations", std::to_string(known.operations.size()), ""}};
  Section section;
  section.title = "Operations";
  section.blocks.emplace_back(std::move(table));
  page.sections.push_back(std::move(section));
  return page;
}

}  // namespace tfaot::toolkit
