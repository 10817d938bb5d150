// SPDX-License-Identifier: Apache-2.0
#include "pages/package_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "pages/page_parts.h"
#include "pages/validation_page.h"
#include "text/describe.h"
#include "text/tuning_tables.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using report::Bars;
using report::Callout;
using report::ColumnKind;
using report::Highlight;
using report::Section;
using report::Table;

double per_row(const TunedCall& call) { return call.ns / static_cast<double>(call.batch_size); }

std::size_t level_index(const Manifest& manifest, const std::string& level) {
  const auto found = std::find(manifest.cpu_levels.begin(), manifest.cpu_levels.end(), level);
  return static_cast<std::size_t>(found - manifest.cpu_levels.begin());
}

std::vector<Highlight> package_highlights(const Manifest& manifest, const PackageSizes& sizes) {
  std::vector<std::string> batch_sizes;
  for (const std::int64_t size : manifest.batch_sizes) batch_sizes.push_back(std::to_string(size));
  std::vector<Highlight> highlights = {
      {"code", report::bytes_text(sizes.code), counted(sizes.objects.size(), "object")},
      {"weights", sizes.weights == 0 ? "in the code" : report::bytes_text(sizes.weights),
       sizes.weights == 0         ? ""
       : sizes.model_weights == 0 ? "stored once"
                                  : "the model has " + report::bytes_text(sizes.model_weights)},
      {"batch sizes", std::to_string(batch_sizes.size()), join(batch_sizes, ", ")},
      {"CPU levels", std::to_string(manifest.cpu_levels.size()), join(manifest.cpu_levels, ", ")}};
  if (!manifest.tuning || manifest.tuning->calls.empty()) return highlights;
  const std::vector<TunedCall>& calls = manifest.tuning->calls;
  const TunedCall& fastest = *std::min_element(
      calls.begin(), calls.end(),
      [](const TunedCall& a, const TunedCall& b) { return per_row(a) < per_row(b); });
  highlights.push_back({"fastest row", microseconds(per_row(fastest)) + " µs",
                        fmt::format("batch size {}, {}", fastest.batch_size, fastest.cpu_level)});
  return highlights;
}

void add_tensor_rows(Table& table, const std::string& role, const std::vector<TensorSpec>& tensors,
                     BatchMode batch) {
  for (const TensorSpec& tensor : tensors) {
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.row_shape) elements *= size;
    table.rows.push_back({{role},
                          {tensor.name},
                          {word_of(tensor.dtype)},
                          {shape_text(tensor, batch)},
                          number_cell(elements)});
  }
}

Section tensors_section(const Manifest& manifest) {
  Table table{.caption = "Inputs and outputs",
              .columns = {{"role"},
                          {"name", ColumnKind::kCode},
                          {"type"},
                          {"shape"},
                          {"values per row", ColumnKind::kNumber}}};
  add_tensor_rows(table, "input", manifest.signature.inputs, manifest.batch);
  add_tensor_rows(table, "output", manifest.signature.outputs, manifest.batch);
  const std::string& key = manifest.signature.key;
  return {key.empty() ? "Inputs and outputs" : "Signature " + key, {}, {std::move(table)}};
}

Section sizes_section(const Manifest& manifest, const PackageSizes& sizes) {
  std::uint64_t others = 0;
  for (const ManifestFile& file : manifest.files) others += file.size;
  std::uint64_t weights = 0;
  for (const ManifestFile& file : manifest.files) {
    if (file.sha256 == manifest.weights_sha256) weights += file.size;
  }
  others -= sizes.code + sizes.headers + weights;
  const auto bar = [](const char* label, std::uint64_t bytes) {
    return report::Bar{label, static_cast<double>(bytes), report::bytes_text(bytes)};
  };
  Bars uses{.caption = "Bytes of the package",
            .bars = {bar("code", sizes.code), bar("weights object", weights),
                     bar("headers", sizes.headers), bar("runtime and others", others)}};
  Bars objects{.caption = "Code by batch size and CPU level", .series = manifest.cpu_levels};
  for (const PackageSizes::Object& object : sizes.objects) {
    objects.bars.push_back({fmt::format("batch {}", object.batch_size),
                            static_cast<double>(object.bytes), report::bytes_text(object.bytes),
                            level_index(manifest, object.cpu_level)});
  }
  return {"Sizes", {}, {std::move(uses), std::move(objects)}};
}

Section times_section(const Manifest& manifest) {
  Section section{"Run time", {}, {}};
  if (!manifest.tuning) {
    section.blocks.push_back(
        Callout{.text = "Nothing was measured yet.",
                .notes = {"'tfaot tune' measures the package. This page then shows the time of "
                          "each batch size, and how tfaot composes batches by it."}});
    return section;
  }
  section.blocks.push_back(report::Text{fmt::format("Measured on {}.", manifest.tuning->cpu)});
  Bars bars{.caption = "Microseconds a row", .series = manifest.cpu_levels};
  Table table{.caption = "Measured calls",
              .columns = {{"CPU level"},
                          {"batch size", ColumnKind::kNumber},
                          {"µs a call", ColumnKind::kNumber},
                          {"µs a row", ColumnKind::kNumber},
                          {"95 % interval, µs", ColumnKind::kNumber},
                          {"timings", ColumnKind::kNumber}}};
  for (const TunedCall& call : manifest.tuning->calls) {
    bars.bars.push_back({fmt::format("batch {}", call.batch_size), per_row(call),
                         microseconds(per_row(call)), level_index(manifest, call.cpu_level)});
  }
  for (const TunedCall& call : calls_by_level(*manifest.tuning)) {
    table.rows.push_back(
        {{call.cpu_level},
         number_cell(call.batch_size),
         microseconds_cell(call.ns),
         microseconds_cell(per_row(call)),
         {.text = microseconds(call.low) + " to " + microseconds(call.high), .number = call.low},
         number_cell(static_cast<std::int64_t>(call.repeats))});
  }
  section.blocks.emplace_back(std::move(bars));
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section plans_section(const ShownPlans& shown) {
  Table table{.caption = "How numbers of rows are run",
              .columns = {{"rows", ColumnKind::kNumber},
                          {"µs a call", ColumnKind::kNumber},
                          {"µs a row", ColumnKind::kNumber},
                          {"run as"}}};
  for (const ShownPlan& plan : shown.plans) {
    table.rows.push_back({number_cell(static_cast<std::int64_t>(plan.rows)),
                          microseconds_cell(plan.ns),
                          microseconds_cell(plan.ns / static_cast<double>(plan.rows)),
                          {plan.run_as}});
  }
  return {"Batch plan",
          {},
          {report::Text{fmt::format("How tfaot composes batches of the compiled sizes, by the "
                                    "times of CPU level {}.",
                                    shown.cpu_level)},
           std::move(table)}};
}

Section files_section(const Manifest& manifest) {
  Table table{.caption = counted(manifest.files.size(), "file"),
              .columns = {{"path", ColumnKind::kCode},
                          {"bytes", ColumnKind::kNumber},
                          {"sha256", ColumnKind::kHash}}};
  for (const ManifestFile& file : manifest.files) {
    table.rows.push_back(
        {{file.path}, number_cell(static_cast<std::int64_t>(file.size)), {file.sha256}});
  }
  return {"Files", {}, {std::move(table)}};
}

Section validated_section(const Validation& validation) {
  return {
      "Predictions",
      {report::Verdict::kGood, "validated"},
      {report::Text{fmt::format("Compared with those of the model, by {}.", validation.reference)},
       differences_table(validation.outputs)}};
}

}  // namespace

report::Page package_page(const Manifest& manifest, const std::string& kind) {
  const PackageSizes sizes = package_sizes(manifest);
  report::Page page;
  page.kind = kind;
  page.title = manifest.name + " " + manifest.version;
  page.summary = manifest.description;
  page.highlights = package_highlights(manifest, sizes);
  page.sections = {{"Overview", {}, {facts_block(facts_of(manifest), {"model", "description"})}},
                   tensors_section(manifest),
                   sizes_section(manifest, sizes),
                   times_section(manifest)};
  if (const ShownPlans shown = shown_plans(manifest); !shown.plans.empty()) {
    page.sections.push_back(plans_section(shown));
  }
  if (manifest.validation) page.sections.push_back(validated_section(*manifest.validation));
  page.sections.push_back(files_section(manifest));
  return page;
}

}  // namespace tfaot::toolkit
