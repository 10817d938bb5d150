// SPDX-License-Identifier: Apache-2.0
#include "text/describe.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "text/text_table.h"
#include "text/validation_report.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kLongestLine = 2000;
constexpr double kFarLarger = 1.2;  // from here on it is worth a remark

// A row for each line of the value, which may come from a package; none if it is empty.
void add(Rows& rows, const std::string& label, const std::string& value) {
  std::string heading = "  " + label;
  for (const std::string& line : split_lines(value)) {
    rows.push_back({std::exchange(heading, ""), shown(line, kLongestLine)});
  }
}

std::string numbers(const std::vector<std::int64_t>& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}

void add_tensors(Rows& rows, const std::string& role, const std::vector<TensorSpec>& tensors,
                 BatchMode batch) {
  for (const TensorSpec& tensor : tensors) {
    rows.push_back(
        {"  " + role, shown(tensor.name), word_of(tensor.dtype), shape_text(tensor, batch)});
  }
}

std::string batches_text(BatchMode batch, const std::vector<std::int64_t>& sizes) {
  return batch == BatchMode::kNone ? "none: one run computes whole tensors" : numbers(sizes);
}

std::string dimensions_text(const std::vector<DimensionSize>& dimensions) {
  std::vector<std::string> sizes;
  for (const DimensionSize& one : dimensions)
    sizes.push_back(fmt::format("{}={}", one.name, one.size));
  return join(sizes, ", ");
}

std::string constants_text(const std::vector<ModelConstant>& constants) {
  std::vector<std::string> values;
  for (const ModelConstant& one : constants) values.push_back(one.name + "=" + value_text(one));
  return join(values, ", ");
}

const char* rows_text(RowsMode rows) {
  return rows == RowsMode::kCoupled ? "coupled: batches of the compiled sizes alone" : "";
}

const char* optimize_text(Optimization optimize) {
  return optimize == Optimization::kSize ? word_of(optimize) : "";
}

std::vector<std::string> input_names(const ModelSection& model) {
  std::vector<std::string> names;
  for (const FrozenInput& input : model.inputs) names.push_back(input.name);
  return names;
}

}  // namespace

std::string shape_text(const TensorSpec& tensor, BatchMode batch) {
  if (batch == BatchMode::kNone) return fmt::format("[{}]", fmt::join(tensor.row_shape, ", "));
  return tensor.row_shape.empty() ? "[batch]"
                                  : fmt::format("[batch, {}]", fmt::join(tensor.row_shape, ", "));
}

PackageSizes package_sizes(const Manifest& manifest) {
  PackageSizes sizes;
  sizes.weights = manifest.weights_size;
  sizes.model_weights = manifest.model_weights_size;
  std::map<std::string, std::uint64_t> files;
  const std::string headers = "include/" + manifest.tool_name + "/";
  for (const ManifestFile& file : manifest.files) {
    files[file.path] = file.size;
    if (is_object_file(file.path) && !is_weights_file(file.path)) sizes.code += file.size;
    if (file.path.compare(0, headers.size(), headers) == 0) sizes.headers += file.size;
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

// "shared", "shared, products as int8".
std::string weights_text(WeightsMode mode, WeightsType type) {
  const std::string text = word_of(mode);
  return type == WeightsType::kFloat32 ? text
                                       : fmt::format("{}, products as {}", text, word_of(type));
}

// "2000 bytes, shared; the model has 1000: layouts for fast kernels take 2.0 times as much".
std::string weights_text(const Manifest& manifest) {
  std::string text = weights_text(manifest.weights, manifest.weights_type);
  if (manifest.weights_size == 0) return text;
  text = fmt::format("{} bytes, {}", manifest.weights_size, text);
  const double times =
      static_cast<double>(manifest.weights_size) / static_cast<double>(manifest.model_weights_size);
  if (manifest.model_weights_size == 0 || times < kFarLarger) return text;
  return text +
         fmt::format("; the model has {}: layouts for fast kernels take {:.1f} times as much",
                     manifest.model_weights_size, times);
}

std::vector<Fact> facts_of(const Manifest& manifest) {
  const PackageSizes sizes = package_sizes(manifest);
  return {{"model", manifest.name + " " + manifest.version},
          {"author", manifest.author},
          {"description", manifest.description},
          {"class", manifest.cpp_class},
          {"tool", manifest.tool_name},
          {"target", manifest.target_triple},
          {"CPU levels", join(manifest.cpu_levels, ", ")},
          {"batch sizes", batches_text(manifest.batch, manifest.batch_sizes)},
          {"code", fmt::format("{} bytes", sizes.code)},
          {"weights", weights_text(manifest)},
          {"optimize", optimize_text(manifest.optimize)},
          {"tuned on", manifest.tuning ? manifest.tuning->cpu : ""},
          {"validated", validation_summary(manifest)},
          {"headers", fmt::format("{} bytes, {}", sizes.headers, word_of(manifest.headers))},
          {"rows", rows_text(manifest.rows)},
          {"TF_XLA_FLAGS", join(manifest.tf_xla_flags, " ")},
          {"XLA_FLAGS", join(manifest.xla_flags, " ")},
          {"engine", manifest.engine},
          {"toolkit", "tfaot " + manifest.toolkit_version},
          {"source", "sha256 " + manifest.source_sha256}};
}

std::string describe_manifest(const Manifest& manifest) {
  const PackageSizes sizes = package_sizes(manifest);
  Rows head;
  for (const Fact& fact : facts_of(manifest)) add(head, fact.label, fact.value);
  Rows tensors;
  add_tensors(tensors, "input", manifest.signature.inputs, manifest.batch);
  add_tensors(tensors, "output", manifest.signature.outputs, manifest.batch);
  Rows code;
  for (const PackageSizes::Object& object : sizes.objects) {
    code.push_back({fmt::format("  batch size {}", object.batch_size), object.cpu_level,
                    fmt::format("{} bytes", object.bytes)});
  }
  Rows files;
  for (const ManifestFile& file : manifest.files) {
    files.push_back({"  " + file.path, fmt::format("{} bytes", file.size)});
  }
  // A frozen graph has inputs and outputs, but no name for them.
  const std::string& key = manifest.signature.key;
  return text_table(head) +
         (key.empty() ? "\nno signature, a graph\n" : fmt::format("\nsignature {}\n", shown(key))) +
         text_table(tensors) + "\ncode\n" + text_table(code) +
         fmt::format("\n{} files\n", files.size()) + text_table(files);
}

std::vector<Fact> facts_of(const ModelSpec& spec) {
  const bool has_signature = spec.model.format == ModelFormat::kSavedModel;
  return {{"model", spec.model.name + " " + spec.model.version},
          {"author", spec.model.author},
          {"description", spec.model.description},
          {"class", cpp_class_of(spec)},
          {"format", word_of(spec.model.format)},
          {"source", spec.model.source.string()},
          {"signature", has_signature ? spec.model.serving_key : ""},
          {"inputs", join(input_names(spec.model), ", ")},
          {"outputs", join(spec.model.outputs, ", ")},
          {"dimensions", dimensions_text(spec.model.dimensions)},
          {"constants", constants_text(spec.model.constants)},
          {"target", spec.compilation.target_triple},
          {"CPU levels", join(spec.compilation.cpu_levels, ", ")},
          {"batch sizes", batches_text(spec.compilation.batch, spec.compilation.batch_sizes)},
          {"weights", weights_text(spec.compilation.weights, spec.compilation.weights_type)},
          {"optimize", optimize_text(spec.compilation.optimize)},
          {"headers", word_of(spec.compilation.headers)},
          {"rows", rows_text(spec.compilation.rows)},
          {"TF_XLA_FLAGS", join(spec.compilation.tf_xla_flags, " ")},
          {"XLA_FLAGS", join(spec.compilation.xla_flags, " ")}};
}

std::string describe_spec(const ModelSpec& spec) {
  Rows rows;
  for (const Fact& fact : facts_of(spec)) add(rows, fact.label, fact.value);
  return text_table(rows);
}

std::string json_text(const nlohmann::ordered_json& json) {
  using nlohmann::ordered_json;
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json constants_to_json(const std::vector<ModelConstant>& constants) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const ModelConstant& one : constants) {
    const std::string text = value_text(one);
    auto value = nlohmann::ordered_json::parse(text, nullptr, false);
    if (value.is_discarded()) value = text;  // JSON has no infinity
    json[one.name] = std::move(value);
  }
  return json;
}

nlohmann::ordered_json spec_to_json(const ModelSpec& spec) {
  nlohmann::ordered_json dimensions = nlohmann::ordered_json::object();
  for (const DimensionSize& one : spec.model.dimensions) dimensions[one.name] = one.size;
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
          {"optimize", word_of(spec.compilation.optimize)},
          {"headers", word_of(spec.compilation.headers)},
          {"rows", word_of(spec.compilation.rows)},
          {"tf_xla_flags", spec.compilation.tf_xla_flags},
          {"xla_flags", spec.compilation.xla_flags}};
}

}  // namespace tfaot::toolkit
