// SPDX-License-Identifier: Apache-2.0
#include "pages/model_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "pages/page_parts.h"
#include "text/describe_model.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using report::Bars;
using report::ColumnKind;
using report::Table;
using report::Verdict;

void add_described_tensors(Table& table, const std::string& role,
                           const std::vector<DescribedTensor>& tensors) {
  for (const DescribedTensor& tensor : tensors) {
    table.rows.push_back({{role},
                          {tensor.name},
                          {tensor.dtype},
                          {shape_text(tensor)},
                          {tensor.tensor == tensor.name ? "" : tensor.tensor}});
  }
}

Table tensors_table(const DescribedSignature& signature) {
  Table table{.caption = "Inputs and outputs",
              .columns = {{"role"},
                          {"name", ColumnKind::kCode},
                          {"type"},
                          {"shape"},
                          {"tensor of the graph", ColumnKind::kCode}}};
  add_described_tensors(table, "input", signature.inputs);
  add_described_tensors(table, "output", signature.outputs);
  return table;
}

std::int64_t operations_of(const DescribedSignature& signature) {
  std::int64_t sum = 0;
  for (const OperationCount& one : signature.operations) sum += one.count;
  return sum;
}

Bars operations_chart(const DescribedSignature& signature) {
  Bars bars{.caption = "Operations that the outputs need"};
  for (const OperationCount& one : signature.operations) {
    bars.bars.push_back(
        {one.operation, static_cast<double>(one.count), report::grouped_digits(one.count)});
  }
  return bars;
}

Table weights_table(const DescribedSignature& signature) {
  Table table{.caption = "Weights, in order of first use",
              .columns = {{"name", ColumnKind::kCode},
                          {"type"},
                          {"shape"},
                          {"parameters", ColumnKind::kNumber}},
              .empty = "the outputs need no variables; constants are part of the operations"};
  std::int64_t most = 1;
  for (const Variable& weight : signature.weights) most = std::max(most, elements_of(weight));
  for (const Variable& weight : signature.weights) {
    report::Cell parameters = number_cell(elements_of(weight));
    parameters.share = static_cast<double>(elements_of(weight)) / static_cast<double>(most);
    table.rows.push_back({{weight.name},
                          {weight.dtype},
                          {fmt::format("[{}]", fmt::join(weight.shape, ", "))},
                          std::move(parameters)});
  }
  return table;
}

report::Section signature_section(const DescribedSignature& signature) {
  report::Section section;
  section.title = signature.key.empty() ? "Graph" : "Signature " + signature.key;
  if (!signature.problem.empty()) {
    section.badge = {Verdict::kBad, "cannot be compiled"};
    section.blocks.emplace_back(report::Callout{Verdict::kBad, signature.problem, signature.notes});
  }
  report::Facts sums;
  if (!signature.operations.empty()) {
    sums.facts.push_back({"parameters", report::grouped_digits(parameters_of(signature))});
    sums.facts.push_back({"operations", report::grouped_digits(operations_of(signature))});
  }
  if (signature.flops_per_row >= 0) {
    sums.facts.push_back({"flops", report::grouped_digits(signature.flops_per_row) + " a row"});
  }
  if (!sums.facts.empty()) section.blocks.emplace_back(std::move(sums));
  section.blocks.emplace_back(tensors_table(signature));
  if (signature.operations.empty()) return section;
  section.blocks.emplace_back(operations_chart(signature));
  section.blocks.emplace_back(weights_table(signature));
  return section;
}

report::Badge model_badge(const ModelDescription& model) {
  const auto problems =
      std::count_if(model.signatures.begin(), model.signatures.end(),
                    [](const DescribedSignature& signature) { return !signature.problem.empty(); });
  if (problems == 0) return {Verdict::kGood, "no problem found"};
  if (problems == static_cast<std::ptrdiff_t>(model.signatures.size())) {
    return {Verdict::kBad, "cannot be compiled"};
  }
  return {Verdict::kWarning,
          fmt::format("{} of {} signatures cannot be compiled", problems, model.signatures.size())};
}

}  // namespace

report::Page model_page(const ModelDescription& model, const std::string& name) {
  report::Page page;
  page.kind = name_of(model.format);
  page.title = name;
  page.badge = model_badge(model);
  if (!model.producer.empty()) page.summary = "Made by " + model.producer + ".";
  std::int64_t parameters = 0;
  std::int64_t flops = -1;
  for (const DescribedSignature& signature : model.signatures) {
    parameters = std::max(parameters, parameters_of(signature));
    flops = std::max(flops, signature.flops_per_row);
    page.sections.push_back(signature_section(signature));
  }
  const bool several = model.signatures.size() > 1;
  const std::string note = several ? "of the largest signature" : "";
  if (model.format == ModelFormat::kSavedModel) {
    page.highlights.push_back({"signatures", std::to_string(model.signatures.size()), ""});
  }
  page.highlights.push_back({"parameters", report::grouped_digits(parameters), note});
  if (flops >= 0) page.highlights.push_back({"flops a row", report::grouped_digits(flops), note});
  return page;
}

}  // namespace tfaot::toolkit
