// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/free_tensors.h"
#include "tfaot/records/json_text.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/model_description.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/report/page.h"
#include "tfaot/tune/plan.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(PackageSizes::Object, batch_size, cpu_level, bytes);

namespace {

using nlohmann::ordered_json;
using report::Bars;
using report::Callout;
using report::ColumnKind;
using report::Fact;
using report::Highlight;
using report::Section;
using report::Table;
using report::Verdict;
using report::Where;

constexpr double kFarLarger = 1.2;  // of weights: from here on it is worth a remark

// What a config and a manifest say alike.

std::string numbers(const std::vector<std::int64_t>& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}

std::string batches_text(BatchMode batch, const std::vector<std::int64_t>& sizes) {
  return batch == BatchMode::kNone ? "none: one run computes whole tensors" : numbers(sizes);
}

// "n_cells=50, n_tracks=1..128"
std::string dimensions_text(const std::vector<DimensionSize>& fixed,
                            const std::vector<FreeDimension>& free) {
  std::vector<std::string> texts = mapped(free, range_text);
  if (!fixed.empty()) texts.insert(texts.begin(), named_sizes_text(fixed));
  return join(texts, ", ");
}

std::string constants_text(const std::vector<ModelConstant>& constants) {
  const auto text_of = [](const ModelConstant& one) { return one.name + "=" + value_text(one); };
  return join(mapped(constants, text_of), ", ");
}

const char* rows_text(RowsMode rows) {
  return rows == RowsMode::kCoupled ? "coupled: batches of the compiled sizes alone" : "";
}

const char* optimize_text(Optimization optimize) {
  return optimize == Optimization::kSize ? word_of(optimize) : "";
}

const char* compute_text(ComputeType compute) {
  return compute == ComputeType::kBfloat16 ? "products and convolutions in bfloat16" : "";
}

std::vector<std::string> input_names(const ModelSection& model) {
  return mapped(model.inputs, &FrozenInput::name);
}

// "shared", "shared, products as int8".
std::string weights_text(WeightsMode mode, WeightsType type) {
  const std::string text = word_of(mode);
  return type == WeightsType::kFloat32 ? text
                                       : fmt::format("{}, products as {}", text, word_of(type));
}

// A config.

std::vector<Fact> facts_of_spec(const ModelSpec& spec) {
  const bool has_signature = spec.model.format == ModelFormat::kSavedModel;
  return {{"model", spec.model.name + " " + spec.model.version, Where::kText},
          {"author", spec.model.author},
          {"description", spec.model.description, Where::kText},
          {"class", cpp_class_of(spec)},
          {"format", word_of(spec.model.format)},
          {"source", spec.model.source.string(), Where::kText},
          // A page does not say where the config is.
          {"source", spec.model.written_source.string(), Where::kPage},
          {"signature", has_signature ? spec.model.serving_key : ""},
          {"inputs", join(input_names(spec.model), ", ")},
          {"outputs", join(spec.model.outputs, ", ")},
          {"dimensions", dimensions_text(spec.model.dimensions, spec.compilation.dimensions)},
          {"constants", constants_text(spec.model.constants)},
          {"target", spec.compilation.target_triple},
          {"CPU levels", join(spec.compilation.cpu_levels, ", ")},
          {"batch sizes", batches_text(spec.compilation.batch, spec.compilation.batch_sizes)},
          {"weights", weights_text(spec.compilation.weights, spec.compilation.weights_type)},
          {"compute", compute_text(spec.compilation.compute)},
          {"optimize", optimize_text(spec.compilation.optimize)},
          {"headers", word_of(spec.compilation.headers)},
          {"rows", rows_text(spec.compilation.rows)},
          {"TF_XLA_FLAGS", join(spec.compilation.tf_xla_flags, " ")},
          {"XLA_FLAGS", join(spec.compilation.xla_flags, " ")}};
}

report::Page config_page(const ModelSpec& spec) {
  const std::vector<std::int64_t>& sizes = spec.compilation.batch_sizes;
  const std::vector<std::string>& levels = spec.compilation.cpu_levels;
  report::Page page;
  page.kind = "config";
  page.title = spec.model.name + " " + spec.model.version;
  page.summary = spec.model.description;
  page.highlights = {{"batch sizes", std::to_string(sizes.size()), numbers(sizes)},
                     {"CPU levels", std::to_string(levels.size()), join(levels, ", ")}};
  page.sections = {{report::kOverview, {}, {report::Facts{facts_of_spec(spec)}}}};
  return page;
}

ordered_json constants_to_json(const std::vector<ModelConstant>& constants) {
  ordered_json json = ordered_json::object();
  for (const ModelConstant& one : constants) {
    const std::string text = value_text(one);
    auto value = json_from_text(text);
    if (value.is_discarded()) value = text;  // JSON has no infinity
    json[one.name] = std::move(value);
  }
  return json;
}

ordered_json spec_to_json(const ModelSpec& spec) {
  ordered_json dimensions = ordered_json::object();
  for (const DimensionSize& one : spec.model.dimensions) dimensions[one.name] = one.size;
  for (const FreeDimension& one : spec.compilation.dimensions) {
    dimensions[one.name] = range_word(one);
  }
  return {{"name", spec.model.name},
          {"version", spec.model.version},
          {"author", spec.model.author},
          {"description", spec.model.description},
          {"format", word_of(spec.model.format)},
          {"source", spec.model.source.string()},
          {"serving_key", spec.model.serving_key},
          {"inputs", input_names(spec.model)},
          {"outputs", spec.model.outputs},
          {"dimensions", std::move(dimensions)},
          {"constants", constants_to_json(spec.model.constants)},
          {"namespace", spec.compilation.namespace_name},
          {"target_triple", spec.compilation.target_triple},
          {"cpu_levels", spec.compilation.cpu_levels},
          {"batch", word_of(spec.compilation.batch)},
          {"batch_sizes", spec.compilation.batch_sizes},
          {"weights", word_of(spec.compilation.weights)},
          {"weights_type", word_of(spec.compilation.weights_type)},
          {"compute", word_of(spec.compilation.compute)},
          {"optimize", word_of(spec.compilation.optimize)},
          {"headers", word_of(spec.compilation.headers)},
          {"rows", word_of(spec.compilation.rows)},
          {"tf_xla_flags", spec.compilation.tf_xla_flags},
          {"xla_flags", spec.compilation.xla_flags}};
}

// A model.

std::string operations_text(const DescribedSignature& signature) {
  const auto counts = mapped(signature.operations, [](const OperationCount& one) {
    return fmt::format("{} {}", one.count, shown(one.operation));
  });
  return join(counts, ", ");
}

std::string shape_text(const DescribedTensor& tensor) {
  return tensor.rank_known ? "[" + sizes_text(tensor) + "]" : "of unknown shape";
}

std::int64_t elements_of(const Variable& weight) {
  std::int64_t elements = 1;
  for (const std::int64_t size : weight.shape) elements *= size;
  return elements;
}

std::int64_t parameters_of(const DescribedSignature& signature) {
  std::int64_t parameters = 0;
  for (const Variable& weight : signature.weights) parameters += elements_of(weight);
  return parameters;
}

Table tensors_table(const DescribedSignature& signature) {
  Table table{.caption = "Inputs and outputs",
              .columns = {{"role"},
                          {"name", ColumnKind::kCode},
                          {"type"},
                          {"shape"},
                          {"tensor of the graph", ColumnKind::kCode, Where::kPage}}};
  const auto add = [&table](const char* role, const std::vector<DescribedTensor>& tensors) {
    for (const DescribedTensor& tensor : tensors) {
      table.rows.push_back({{role},
                            {tensor.name},
                            {tensor.dtype},
                            {shape_text(tensor)},
                            {tensor.tensor == tensor.name ? "" : tensor.tensor}});
    }
  };
  add("input", signature.inputs);
  add("output", signature.outputs);
  for (const ModelConstant& one : signature.constants) {
    table.rows.push_back({{"constant"}, {one.name}, {""}, {value_text(one)}, {""}});
  }
  return table;
}

std::int64_t operations_of(const DescribedSignature& signature) {
  std::int64_t sum = 0;
  for (const OperationCount& one : signature.operations) sum += one.count;
  return sum;
}

Bars operations_chart(const DescribedSignature& signature) {
  Bars bars{.caption = "Operations that the outputs need", .where = Where::kPage};
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

std::string title_of(ModelFormat format, const DescribedSignature& signature) {
  switch (format) {
    case ModelFormat::kSavedModel:
      return "Signature " + signature.key;
    case ModelFormat::kFrozenGraph:
      return "No signature: from placeholders to what nothing reads";
    case ModelFormat::kOnnx:
      return "The graph";
    case ModelFormat::kStableHlo:
      break;
  }
  return "The function 'main'";
}

Section signature_section(ModelFormat format, const DescribedSignature& signature) {
  Section section{title_of(format, signature), {}, {}};
  if (!signature.problem.empty()) {
    section.badge = {Verdict::kBad, "cannot be compiled"};
    section.blocks.emplace_back(Callout{Verdict::kBad, signature.problem, signature.notes});
  }
  report::Facts sums;
  if (!signature.operations.empty()) {
    sums.facts = {{"parameters", report::grouped_digits(parameters_of(signature))},
                  {"operations", operations_text(signature), Where::kText},
                  {"operations", report::grouped_digits(operations_of(signature)), Where::kPage}};
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
  const auto problems = std::ranges::count_if(
      model.signatures, [](const DescribedSignature& one) { return !one.problem.empty(); });
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
  page.sections = {{report::kOverview,
                    {},
                    {report::Facts{{{"format", word_of(model.format)},
                                    {"made by", model.producer, Where::kText}}}}}};
  if (!model.producer.empty()) page.summary = "Made by " + model.producer + ".";
  std::int64_t parameters = 0;
  std::int64_t flops = -1;
  for (const DescribedSignature& signature : model.signatures) {
    parameters = std::max(parameters, parameters_of(signature));
    flops = std::max(flops, signature.flops_per_row);
    page.sections.push_back(signature_section(model.format, signature));
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

ordered_json tensors_to_json(const std::vector<DescribedTensor>& tensors) {
  ordered_json list = ordered_json::array();
  for (const DescribedTensor& tensor : tensors) {
    ordered_json shape = ordered_json::array();
    for (const std::int64_t size : tensor.shape) {
      shape.push_back(size < 0 ? ordered_json() : ordered_json(size));
    }
    list.push_back({{"name", tensor.name},
                    {"tensor", tensor.tensor},
                    {"dtype", tensor.dtype},
                    {"shape", tensor.rank_known ? std::move(shape) : ordered_json()}});
  }
  return list;
}

ordered_json signature_to_json(const DescribedSignature& signature) {
  ordered_json operations = ordered_json::object();
  for (const OperationCount& one : signature.operations) operations[one.operation] = one.count;
  ordered_json json = {{"key", signature.key},
                       {"inputs", tensors_to_json(signature.inputs)},
                       {"outputs", tensors_to_json(signature.outputs)},
                       {"constants", constants_to_json(signature.constants)},
                       {"parameters", parameters_of(signature)},
                       {"flops_per_row", nullptr},
                       {"operations", std::move(operations)},
                       {"weights", json_of(signature.weights)},
                       {"problem", signature.problem},
                       {"notes", signature.notes}};
  if (signature.flops_per_row >= 0) json["flops_per_row"] = signature.flops_per_row;
  return json;
}

ordered_json model_to_json(const ModelDescription& model) {
  return {{"format", word_of(model.format)},
          {"producer", model.producer},
          {"signatures", mapped(model.signatures, signature_to_json)}};
}

// A package.

// "2000 bytes, shared; the model has 1000: layouts for fast kernels take 2.0 times as much".
std::string weights_text(const Manifest& manifest) {
  std::string text = weights_text(manifest.weights.storage, manifest.weights.type);
  if (manifest.weights.size == 0) return text;
  text = fmt::format("{} bytes, {}", manifest.weights.size, text);
  const double times =
      static_cast<double>(manifest.weights.size) / static_cast<double>(manifest.weights.model_size);
  if (manifest.weights.model_size == 0 || times < kFarLarger) return text;
  return text +
         fmt::format("; the model has {}: layouts for fast kernels take {:.1f} times as much",
                     manifest.weights.model_size, times);
}

double per_row(const TunedCall& call) { return call.ns / static_cast<double>(call.batch_size); }

std::size_t level_index(const Manifest& manifest, const std::string& level) {
  const auto found = std::ranges::find(manifest.cpu_levels, level);
  return static_cast<std::size_t>(found - manifest.cpu_levels.begin());
}

std::vector<Highlight> package_highlights(const Manifest& manifest, const PackageSizes& sizes) {
  std::vector<Highlight> highlights = {
      {"code", report::bytes_text(sizes.code), counted(sizes.objects.size(), "object")},
      {"weights", sizes.weights == 0 ? "in the code" : report::bytes_text(sizes.weights),
       sizes.weights == 0         ? ""
       : sizes.model_weights == 0 ? "stored once"
                                  : "the model has " + report::bytes_text(sizes.model_weights)},
      {"batch sizes", std::to_string(manifest.batch_sizes.size()), numbers(manifest.batch_sizes)},
      {"CPU levels", std::to_string(manifest.cpu_levels.size()), join(manifest.cpu_levels, ", ")}};
  if (!manifest.tuning || manifest.tuning->calls.empty()) return highlights;
  const std::vector<TunedCall>& calls = manifest.tuning->calls;
  const TunedCall& fastest = *std::ranges::min_element(calls, {}, per_row);
  highlights.push_back({"fastest row", microseconds(per_row(fastest)) + " µs",
                        fmt::format("batch size {}, {}", fastest.batch_size, fastest.cpu_level)});
  return highlights;
}

Section tensors_section(const Manifest& manifest) {
  Table table{.caption = "Inputs and outputs",
              .columns = {{"role"},
                          {"name", ColumnKind::kCode},
                          {"type"},
                          {"shape"},
                          {"values per row", ColumnKind::kNumber, Where::kPage}}};
  const auto add = [&](const char* role, const std::vector<TensorSpec>& tensors) {
    for (const TensorSpec& tensor : tensors) {
      table.rows.push_back({{role},
                            {tensor.name},
                            {word_of(tensor.dtype)},
                            {shape_text(tensor, manifest)},
                            number_cell(static_cast<std::int64_t>(row_elements(tensor)))});
    }
  };
  add("input", manifest.signature.inputs);
  add("output", manifest.signature.outputs);
  // A frozen graph has inputs and outputs, but no name for them.
  const std::string& key = manifest.signature.key;
  return {key.empty() ? "Inputs and outputs" : "Signature " + key, {}, {std::move(table)}};
}

Section sizes_section(const Manifest& manifest, const PackageSizes& sizes) {
  std::uint64_t others = 0, weights = 0;
  for (const ManifestFile& file : manifest.files) {
    others += file.size;
    if (file.sha256 == manifest.weights.sha256) weights += file.size;
  }
  others -= sizes.code + sizes.headers + weights;
  const auto bar = [](const char* label, std::uint64_t bytes) {
    return report::Bar{label, static_cast<double>(bytes), report::bytes_text(bytes)};
  };
  Bars uses{.caption = "Bytes of the package",
            .bars = {bar("code", sizes.code), bar("weights object", weights),
                     bar("headers", sizes.headers), bar("runtime and others", others)},
            .where = Where::kPage};
  Bars objects{.caption = "Code by batch size and CPU level", .series = manifest.cpu_levels};
  for (const PackageSizes::Object& object : sizes.objects) {
    objects.bars.push_back({fmt::format("batch {}", object.batch_size),
                            static_cast<double>(object.bytes), report::bytes_text(object.bytes),
                            level_index(manifest, object.cpu_level)});
  }
  return {"Sizes", {}, {std::move(uses), std::move(objects)}};
}

Section files_section(const Manifest& manifest) {
  Table table{.caption = counted(manifest.files.size(), "file"),
              .columns = {{"path", ColumnKind::kCode},
                          {"bytes", ColumnKind::kNumber},
                          {"sha256", ColumnKind::kHash, Where::kPage}}};
  for (const ManifestFile& file : manifest.files) {
    table.rows.push_back(
        {{file.path}, number_cell(static_cast<std::int64_t>(file.size)), {file.sha256}});
  }
  return {"Files", {}, {std::move(table)}};
}

Section no_times_section() {
  return {"Run time",
          {},
          {Callout{.text = "Nothing was measured yet.",
                   .notes = {"'tfaot tune' measures the package. This page then shows the time of "
                             "each batch size, and how tfaot composes batches by it."}}}};
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
  page.sections = {{report::kOverview, {}, {report::Facts{facts_of(manifest)}}},
                   tensors_section(manifest),
                   sizes_section(manifest, sizes)};
  const auto add_to_page = [&page](Section section) {
    section.where = Where::kPage;
    page.sections.push_back(std::move(section));
  };
  add_to_page(manifest.tuning ? times_section(manifest) : no_times_section());
  if (Section plan = plan_section(manifest); !plan.blocks.empty()) add_to_page(std::move(plan));
  if (manifest.validation) add_to_page(validated_section(*manifest.validation));
  page.sections.push_back(files_section(manifest));
  return page;
}

struct InfoArguments {
  std::string path;
  HtmlOption html;
  bool record = false;
  bool identity = false;  // hidden, for the CMake functions: a config's names alone, as JSON
};

// By name: "[batch, 2, n_pf]".
ordered_json shapes_to_json(const std::vector<TensorSpec>& tensors, const Manifest& manifest) {
  ordered_json shapes = ordered_json::object();
  for (const TensorSpec& tensor : tensors) shapes[tensor.name] = shape_text(tensor, manifest);
  return shapes;
}

ordered_json package_to_json(const Manifest& manifest) {
  const PackageSizes sizes = package_sizes(manifest);
  ordered_json dimensions = ordered_json::object();
  for (const FreeDimension& one : manifest.dimensions) dimensions[one.name] = range_word(one);
  return {{"dimensions", std::move(dimensions)},
          {"shapes",
           {{"inputs", shapes_to_json(manifest.signature.inputs, manifest)},
            {"outputs", shapes_to_json(manifest.signature.outputs, manifest)}}},
          {"code_bytes", sizes.code},
          {"weights_bytes", sizes.weights},
          {"model_weights_bytes",
           sizes.model_weights > 0 ? ordered_json(sizes.model_weights) : nullptr},
          {"headers_bytes", sizes.headers},
          {"code", json_of(sizes.objects)},
          {"manifest", json_from_text(manifest_to_json(manifest))}};
}

Status print_identity(const InfoArguments& options, Program& program) {
  TFAOT_ASSIGN(const ModelIdentity model, identify(program, program.absolute(options.path)));
  program.console.print(json_text(
      {{"name", model.name}, {"namespace", model.namespace_name}, {"version", model.version}}));
  return {};
}

ordered_json record_json(const ModelRecord& record) {
  return {{"model_name", record.model_name}, {"version", record.version}, {"hash", record.hash}};
}

Status print_record(const InfoArguments& options, Program& program) {
  const Path path = program.absolute(options.path);
  TFAOT_ASSIGN(const Inspected inspected, inspect(program, path));
  const auto* const manifest = std::get_if<Manifest>(&inspected.content);
  if (manifest == nullptr) {
    return fail(Error::at({path.string()}, "--record is for packages")
                    .note("'tfaot compile' makes one of a model"));
  }
  if (!manifest->record) {
    return fail(Error::at({path.string()}, "the package has no record")
                    .note("it was made by an older tfaot; compile the model again: tfaot compile"));
  }
  if (manifest->record->version == 0) {
    return fail(
        Error::at({path.string()}, fmt::format("the version '{}' has no number", manifest->version))
            .note("give it one with model.record_version, or a version such as 1.2.3"));
  }
  program.console.print(json_text(record_json(*manifest->record)));
  return {};
}

Status info(const InfoArguments& options, Program& program) {
  if (options.record) return print_record(options, program);
  if (options.identity) return print_identity(options, program);
  TFAOT_TRY(options.html.check(program));
  const Path path = program.absolute(options.path);
  TFAOT_ASSIGN(const Inspected inspected, inspect(program, path));
  report::Page page;
  ordered_json json = {{"kind", "config"}};
  if (const auto* const spec = std::get_if<ModelSpec>(&inspected.content)) {
    page = config_page(*spec);
    json.update(spec_to_json(*spec));
    ordered_json data = json;
    data["source"] = spec->model.written_source.string();
    page.data = json_text(data);
  } else if (const auto* const model = std::get_if<ModelDescription>(&inspected.content)) {
    page = model_page(*model, path.filename().string());
    json["kind"] = "model";
    json.update(model_to_json(*model));
  } else {
    const auto& manifest = std::get<Manifest>(inspected.content);
    json["kind"] = inspected.kind == Inspected::Kind::kArchive ? "archive" : "package tree";
    page = package_page(manifest, json["kind"]);
    json.update(package_to_json(manifest));
  }
  page.heading = fmt::format("{} {}", json["kind"].get<std::string>(), options.path);
  return options.html.show(program, std::move(page), json);
}

}  // namespace

std::string shape_text(const TensorSpec& tensor, const Manifest& manifest) {
  std::vector<std::string> sizes = row_shape_texts(tensor, sized_dimensions(manifest.dimensions));
  if (manifest.batch != BatchMode::kNone) sizes.insert(sizes.begin(), "batch");
  return fmt::format("[{}]", join(sizes, ", "));
}

PackageSizes package_sizes(const Manifest& manifest) {
  PackageSizes sizes;
  sizes.weights = manifest.weights.size;
  sizes.model_weights = manifest.weights.model_size;
  std::map<std::string, std::uint64_t> files;
  const std::string headers = "include/" + manifest.tool_name + "/";
  for (const ManifestFile& file : manifest.files) {
    files[file.path] = file.size;
    if (is_object_file(file.path) && !is_weights_file(file.path)) sizes.code += file.size;
    if (file.path.starts_with(headers)) sizes.headers += file.size;
  }
  for (const std::int64_t batch_size : manifest.batch_sizes) {
    for (const std::string& level : manifest.cpu_levels) {
      const std::string program = "lib/" + program_name(manifest.name, batch_size);
      const auto named = files.find(object_file_name(program, level));
      const auto lowest = files.find(lowest_object_file_name(program));
      const auto found = named == files.end() ? lowest : named;
      if (found != files.end()) sizes.objects.push_back({batch_size, level, found->second});
    }
  }
  return sizes;
}

std::string instructions_text(const Manifest& manifest) {
  const auto used = instructions_beyond_levels(manifest);
  if (!used) return "";
  return used->empty() ? "those of the CPU levels alone, on this machine"
                       : *used + " on this machine, beyond those of the CPU levels";
}

std::vector<report::Fact> facts_of(const Manifest& manifest) {
  const PackageSizes sizes = package_sizes(manifest);
  return {{"model", manifest.name + " " + manifest.version, Where::kText},
          {"author", manifest.author},
          {"description", manifest.description, Where::kText},
          {"class", manifest.cpp_class},
          {"tool", manifest.tool_name},
          {"target", manifest.target_triple},
          {"CPU levels", join(manifest.cpu_levels, ", ")},
          {"batch sizes", batches_text(manifest.batch, manifest.batch_sizes)},
          {"dimensions", dimensions_text({}, manifest.dimensions)},
          {"code", fmt::format("{} bytes", sizes.code)},
          {"weights", weights_text(manifest)},
          {"imports", manifest.imports.empty() ? "" : imports_text(manifest.imports)},
          {"instructions", instructions_text(manifest)},
          {"compute", compute_text(manifest.compute)},
          {"optimize", optimize_text(manifest.optimize)},
          {"tuned on", manifest.tuning ? manifest.tuning->cpu : ""},
          {"validated", validation_summary(manifest)},
          {"bits", bits_summary(manifest)},
          {"headers", fmt::format("{} bytes, {}", sizes.headers, word_of(manifest.headers))},
          {"rows", rows_text(manifest.rows)},
          {"TF_XLA_FLAGS", join(manifest.tf_xla_flags, " ")},
          {"XLA_FLAGS", join(manifest.xla_flags, " ")},
          {"engine", manifest.engine},
          {"toolkit", "tfaot " + manifest.toolkit_version},
          {"source", "sha256 " + manifest.source_sha256}};
}

report::Section times_section(const Manifest& manifest) {
  Section section{"Run time", {}, {}};
  // `tfaot tune` runs the largest sizes.
  const std::vector<FreeDimension> sized = sized_dimensions(manifest.dimensions);
  const std::string sizes = named_sizes_text(named_sizes(sized, default_sizes(sized)));
  section.blocks.push_back(report::Text{fmt::format("Measured on {}{}.", manifest.tuning->cpu,
                                                    sizes.empty() ? "" : ", at " + sizes)});
  Bars bars{.caption = "Microseconds a row", .series = manifest.cpu_levels, .where = Where::kPage};
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
  std::vector<TunedCall> calls = manifest.tuning->calls;
  std::ranges::stable_sort(calls, {}, &TunedCall::cpu_level);
  for (const TunedCall& call : calls) {
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

report::Section plan_section(const Manifest& manifest) {
  constexpr std::array<std::size_t, 12> kRows = {1, 2, 3, 5, 8, 16, 32, 64, 100, 128, 256, 1000};
  Section section{"Batch plan", {}, {}};
  if (manifest.rows == RowsMode::kCoupled) return section;
  const LevelCosts level = highest_level(manifest);
  if (level.sizes.empty()) return section;
  section.blocks.emplace_back(report::Text{
      fmt::format("How tfaot composes batches of the compiled sizes, by the times of CPU level {}.",
                  level.cpu_level)});
  Table table{.caption = "How numbers of rows are run",
              .columns = {{"rows", ColumnKind::kNumber},
                          {"µs a call", ColumnKind::kNumber},
                          {"µs a row", ColumnKind::kNumber},
                          {"run as"}}};
  for (const std::size_t rows : kRows) {
    const PlannedRows planned = plan_rows(level, rows);
    table.rows.push_back({number_cell(static_cast<std::int64_t>(rows)),
                          microseconds_cell(planned.ns),
                          microseconds_cell(planned.ns / static_cast<double>(rows)),
                          {run_as_text(planned)}});
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

Action add_info(CLI::App& app) {
  auto options = std::make_shared<InfoArguments>();
  add_value(app, "PATH", options->path,
            "a package tree, an archive, AREA/NAME[/VERSION] of an\ninstalled model, a config "
            "file or a model")
      ->required();
  options->html.add_to(app);
  add_engine_limits(app);
  app.add_flag("--record", options->record,
               "print what a conditions database keeps of a package:\nname, version number and "
               "hash, as JSON");
  app.add_flag("--identity", options->identity)->group("");
  app.footer(
      R"(Reads only the manifest of an archive, which is at its start; 'tfaot install' checks that the
rest is complete and unchanged. A model is a SavedModel's folder, an ONNX file, a frozen
graph or a file with StableHLO: the engine reads it, and counts the floating-point
operations of a row before any optimisation.
Examples:
  tfaot info dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst
  tfaot info build/tagger --json
  tfaot info aot_config.yaml
  tfaot info exports/tagger --html tagger.html)");
  return [options](Program& program) { return info(*options, program); };
}

}  // namespace tfaot::toolkit
