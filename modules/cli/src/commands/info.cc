// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/page_parts.h"
#include "pages/validation_page.h"
#include "text/describe.h"
#include "text/describe_model.h"
#include "text/tuning_tables.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/model_description.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/report/page.h"
#include "tfaot/report/quantities.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using report::Bars;
using report::Callout;
using report::ColumnKind;
using report::Highlight;
using report::Section;
using report::Table;
using report::Verdict;

// What `tfaot info --html` shows of a config.

report::Page config_page(const ModelSpec& spec) {
  std::vector<std::string> batch_sizes;
  for (const std::int64_t size : spec.compilation.batch_sizes) {
    batch_sizes.push_back(std::to_string(size));
  }
  const std::vector<std::string>& levels = spec.compilation.cpu_levels;
  report::Page page;
  page.kind = "config";
  page.title = spec.model.name + " " + spec.model.version;
  page.summary = spec.model.description;
  page.highlights = {{"batch sizes", std::to_string(batch_sizes.size()), join(batch_sizes, ", ")},
                     {"CPU levels", std::to_string(levels.size()), join(levels, ", ")}};
  page.sections = {{"Overview", {}, {facts_block(facts_of(spec), {"model", "description"})}}};
  return page;
}

// What `tfaot info --html` shows of a model.

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

// `name`: of its file or folder.
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

// What `tfaot info --html` shows of a package.

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

// `kind`: "archive" or "package tree".
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

struct InfoArguments {
  std::string path;
  bool json = false;
  HtmlOption html;
  bool identity = false;  // hidden, for the CMake functions: a config's names alone, as JSON
};

// The result of `tfaot info` in both forms.
struct Description {
  std::string kind;
  ordered_json details;
  std::string text;
};

Description of_manifest(const std::string& kind, const Manifest& manifest) {
  const PackageSizes sizes = package_sizes(manifest);
  ordered_json code = ordered_json::array();
  for (const PackageSizes::Object& object : sizes.objects) {
    code.push_back({{"batch_size", object.batch_size},
                    {"cpu_level", object.cpu_level},
                    {"bytes", object.bytes}});
  }
  ordered_json details = {{"code_bytes", sizes.code},
                          {"weights_bytes", sizes.weights},
                          {"model_weights_bytes",
                           sizes.model_weights > 0 ? ordered_json(sizes.model_weights) : nullptr},
                          {"headers_bytes", sizes.headers},
                          {"code", std::move(code)},
                          {"manifest", ordered_json::parse(manifest_to_json(manifest))}};
  return {kind, std::move(details), describe_manifest(manifest)};
}

Description description_of(const Inspected& found) {
  if (const auto* const spec = std::get_if<ModelSpec>(&found.content)) {
    return {"config", spec_to_json(*spec), describe_spec(*spec)};
  }
  if (const auto* const model = std::get_if<ModelDescription>(&found.content)) {
    return {"model", model_to_json(*model), describe_model_text(*model)};
  }
  return of_manifest(found.kind == Inspected::Kind::kArchive ? "archive" : "package tree",
                     std::get<Manifest>(found.content));
}

Status print_identity(const InfoArguments& options, Program& program) {
  TFAOT_ASSIGN(const ModelIdentity model, identify(program, program.absolute(options.path)));
  program.console.print(json_text(
      {{"name", model.name}, {"namespace", model.namespace_name}, {"version", model.version}}));
  return {};
}

Status write_page(const InfoArguments& options, Program& program, const Inspected& inspected,
                  ordered_json json) {
  if (const auto* const spec = std::get_if<ModelSpec>(&inspected.content)) {
    ModelSpec shown = *spec;  // a page does not say where the config is
    shown.model.source = shown.model.written_source;
    json["source"] = shown.model.source.string();
    return options.html.write(program, config_page(shown), json);
  }
  if (const auto* const model = std::get_if<ModelDescription>(&inspected.content)) {
    const std::string name = program.absolute(options.path).filename().string();
    return options.html.write(program, model_page(*model, name), json);
  }
  const std::string kind = json["kind"];
  return options.html.write(program, package_page(std::get<Manifest>(inspected.content), kind),
                            json);
}

Status info(const InfoArguments& options, Program& program) {
  if (options.identity) return print_identity(options, program);
  TFAOT_TRY(options.html.check(program));
  TFAOT_ASSIGN(const Inspected inspected, inspect(program, program.absolute(options.path)));
  const Description found = description_of(inspected);
  ordered_json json = {{"kind", found.kind}};
  json.update(found.details);
  if (options.html.given()) TFAOT_TRY(write_page(options, program, inspected, json));
  if (options.json) {
    program.console.print(json_text(json));
  } else {
    program.console.print(fmt::format("{} {}\n{}", found.kind, options.path, found.text));
  }
  return {};
}

}  // namespace

Action add_info(CLI::App& app) {
  auto options = std::make_shared<InfoArguments>();
  app.add_option("PATH", options->path,
                 "a package tree, an archive, AREA/NAME[/VERSION] of an\ninstalled model, a config "
                 "file or a model")
      ->required()
      ->option_text(" ");
  app.add_flag("--json", options->json, "print JSON instead of text");
  options->html.add_to(app);
  add_engine_limits(app);
  app.add_flag("--identity", options->identity)->group("");
  app.footer(
      "Reads only the manifest of an archive, which is at its start; 'tfaot install' checks that "
      "the\n"
      "rest is complete and unchanged. A model is a SavedModel's folder, an ONNX file, a frozen\n"
      "graph or a file with StableHLO: the engine reads it, and counts the floating-point\n"
      "operations of a row before any optimisation.\n"
      "Examples:\n"
      "  tfaot info dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst\n"
      "  tfaot info build/tagger --json\n"
      "  tfaot info aot_config.yaml\n"
      "  tfaot info exports/tagger --html tagger.html");
  return [options](Program& program) { return info(*options, program); };
}

}  // namespace tfaot::toolkit
