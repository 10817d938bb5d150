// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "text_table.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/dtype.h"

namespace tfaot::toolkit {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kLongestLine = 2000;

// A row for each line of the value, which others may have written; none when it is empty.
void add(Rows& rows, const std::string& label, const std::string& value) {
  std::string heading = "  " + label;
  for (const std::string& line : split_lines(value)) {
    rows.push_back({std::exchange(heading, ""), shown(line, kLongestLine)});
  }
}

std::string numbers(const std::vector<std::int64_t>& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}

std::string shape(const TensorSpec& tensor) {
  return tensor.row_shape.empty() ? "[batch]"
                                  : fmt::format("[batch, {}]", fmt::join(tensor.row_shape, ", "));
}

void add_tensors(Rows& rows, const std::string& role, const std::vector<TensorSpec>& tensors) {
  for (const TensorSpec& tensor : tensors) {
    rows.push_back({"  " + role, shown(tensor.name), dtype_name(tensor.dtype), shape(tensor)});
  }
}

const char* word(WeightsMode mode) { return mode == WeightsMode::kShared ? "shared" : "embedded"; }
const char* word(HeadersMode mode) {
  return mode == HeadersMode::kCmssw ? "cmssw" : "self_contained";
}
const char* word(RowsMode mode) {
  return mode == RowsMode::kCoupled ? "coupled: batches of the compiled sizes alone" : "";
}
const char* word(ModelFormat format) {
  return format == ModelFormat::kSavedModel ? "saved_model" : "frozen_graph";
}

std::vector<std::string> input_names(const ModelSection& model) {
  std::vector<std::string> names;
  for (const FrozenInput& input : model.inputs) names.push_back(input.name);
  return names;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

PackageSizes package_sizes(const Manifest& manifest) {
  PackageSizes sizes;
  sizes.weights = manifest.weights_size;
  std::map<std::string, std::uint64_t> files;
  const std::string headers = "include/" + manifest.tool_name + "/";
  for (const ManifestFile& file : manifest.files) {
    files[file.path] = file.size;
    if (ends_with(file.path, ".o") && !ends_with(file.path, "_weights.o")) sizes.code += file.size;
    if (file.path.compare(0, headers.size(), headers) == 0) sizes.headers += file.size;
  }
  for (const std::int64_t batch_size : manifest.batch_sizes) {
    for (const std::string& level : manifest.cpu_levels) {
      const std::string stem = fmt::format("lib/{}_bs{}", manifest.name, batch_size);
      const auto named = files.find(stem + "_" + level + ".o");
      const auto lowest = files.find(stem + ".o");  // has no suffix
      const auto found = named == files.end() ? lowest : named;
      if (found != files.end()) sizes.objects.push_back({batch_size, level, found->second});
    }
  }
  return sizes;
}

std::string describe_manifest(const Manifest& manifest) {
  const PackageSizes sizes = package_sizes(manifest);
  Rows head;
  add(head, "model", manifest.name + " " + manifest.version);
  add(head, "author", manifest.author);
  add(head, "description", manifest.description);
  add(head, "class", manifest.cpp_class);
  add(head, "tool", manifest.tool_name);
  add(head, "target", manifest.target_triple);
  add(head, "CPU levels", join(manifest.cpu_levels, ", "));
  add(head, "batch sizes", numbers(manifest.batch_sizes));
  add(head, "code", fmt::format("{} bytes", sizes.code));
  add(head, "weights",
      sizes.weights == 0 ? manifest.weights
                         : fmt::format("{} bytes, {}", sizes.weights, manifest.weights));
  add(head, "tuned on", manifest.tuning ? manifest.tuning->cpu : "");
  add(head, "headers", fmt::format("{} bytes, {}", sizes.headers, word(manifest.headers)));
  add(head, "rows", word(manifest.rows));
  add(head, "TF_XLA_FLAGS", join(manifest.tf_xla_flags, " "));
  add(head, "XLA_FLAGS", join(manifest.xla_flags, " "));
  add(head, "engine", manifest.engine);
  add(head, "toolkit", "tfaot " + manifest.toolkit_version);
  add(head, "source", "sha256 " + manifest.source_sha256);
  Rows tensors;
  add_tensors(tensors, "input", manifest.signature.inputs);
  add_tensors(tensors, "output", manifest.signature.outputs);
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

std::string describe_spec(const ModelSpec& spec) {
  Rows rows;
  add(rows, "model", spec.model.name + " " + spec.model.version);
  add(rows, "author", spec.model.author);
  add(rows, "description", spec.model.description);
  add(rows, "class", spec.compilation.namespace_name + "::" + spec.model.name);
  add(rows, "format", word(spec.model.format));
  add(rows, "source", spec.model.source.string());
  if (spec.model.format == ModelFormat::kSavedModel) add(rows, "signature", spec.model.serving_key);
  add(rows, "inputs", join(input_names(spec.model), ", "));
  add(rows, "outputs", join(spec.model.outputs, ", "));
  add(rows, "target", spec.compilation.target_triple);
  add(rows, "CPU levels", join(spec.compilation.cpu_levels, ", "));
  add(rows, "batch sizes", numbers(spec.compilation.batch_sizes));
  add(rows, "weights", word(spec.compilation.weights));
  add(rows, "headers", word(spec.compilation.headers));
  add(rows, "rows", word(spec.compilation.rows));
  add(rows, "TF_XLA_FLAGS", join(spec.compilation.tf_xla_flags, " "));
  add(rows, "XLA_FLAGS", join(spec.compilation.xla_flags, " "));
  return text_table(rows);
}

std::string json_text(const nlohmann::ordered_json& json) {
  using nlohmann::ordered_json;
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json spec_to_json(const ModelSpec& spec) {
  return {{"name", spec.model.name},
          {"version", spec.model.version},
          {"author", spec.model.author},
          {"description", spec.model.description},
          {"format", word(spec.model.format)},
          {"source", spec.model.source.string()},
          {"serving_key", spec.model.serving_key},
          {"inputs", input_names(spec.model)},
          {"outputs", spec.model.outputs},
          {"namespace", spec.compilation.namespace_name},
          {"target_triple", spec.compilation.target_triple},
          {"cpu_levels", spec.compilation.cpu_levels},
          {"batch_sizes", spec.compilation.batch_sizes},
          {"weights", word(spec.compilation.weights)},
          {"headers", word(spec.compilation.headers)},
          {"rows", spec.compilation.rows == RowsMode::kCoupled ? "coupled" : "alone"},
          {"tf_xla_flags", spec.compilation.tf_xla_flags},
          {"xla_flags", spec.compilation.xla_flags}};
}

}  // namespace tfaot::toolkit
