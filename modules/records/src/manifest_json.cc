// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/manifest_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "manifest_rules.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/record_json.h"
#include "tfaot/records/validation_json.h"

namespace tfaot::toolkit {
TFAOT_MEMBERS(ManifestFile, path, sha256, size);
TFAOT_MEMBERS(TunedCall, batch_size, cpu_level, ns, low, high, repeats, live_permille);
TFAOT_MEMBERS(Tuning, cpu, calls);

namespace {

using nlohmann::ordered_json;

// The manifest's `tuning` <-> JSON.

Result<double> read_time(const JsonReader& json) {
  TFAOT_ASSIGN(const double time, json.real());
  if (time > 0 && time < 1e15) return time;
  return json.failed("expected nanoseconds above 0");
}

Result<std::uint32_t> read_permille(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t share, json.number());
  if (share >= 0 && share <= 1000) return static_cast<std::uint32_t>(share);
  return json.failed("expected thousandths");
}

Result<TunedCall> read_call(const JsonReader& json) {
  TunedCall call;
  TFAOT_TRY(json.read("batch_size", call.batch_size, &JsonReader::number));
  TFAOT_TRY(json.read("cpu_level", call.cpu_level, &JsonReader::text));
  TFAOT_TRY(json.read("ns", call.ns, read_time));
  TFAOT_TRY(json.read("low", call.low, read_time));
  TFAOT_TRY(json.read("high", call.high, read_time));
  TFAOT_TRY(json.read("repeats", call.repeats, read_size));
  TFAOT_TRY(json.read_if_there("live_permille", call.live_permille, read_permille));
  if (call.low <= call.ns && call.ns <= call.high) return call;
  return json.failed("the interval from 'low' to 'high' does not hold 'ns'");
}

template <class T>
bool holds(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

Result<Tuning> read_tuning(const JsonReader& json) {
  Tuning tuning;
  TFAOT_TRY(json.read("cpu", tuning.cpu, &JsonReader::text));
  TFAOT_ASSIGN(const JsonReader calls, json.member("calls"));
  TFAOT_ASSIGN(tuning.calls, calls.list(read_call));
  return tuning;
}

// Refuses costs for code that the package does not hold, and duplicates. `json` is the manifest.
Status check_tuning(const JsonReader& json, const Manifest& manifest) {
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const TunedCall& call : manifest.tuning->calls) {
    const std::string what =
        fmt::format("tuning: batch size {}, CPU level {}", call.batch_size, call.cpu_level);
    if (!holds(manifest.batch_sizes, call.batch_size) ||
        !holds(manifest.cpu_levels, call.cpu_level)) {
      return json.failed(what + " is not in the package");
    }
    if (!seen.emplace(call.batch_size, call.cpu_level).second) {
      return json.failed(what + " is listed twice");
    }
  }
  return {};
}

Result<TensorSpec> read_tensor(const JsonReader& json) {
  TensorSpec tensor;
  TFAOT_TRY(json.read("name", tensor.name, read_tensor_name));
  TFAOT_TRY(json.read("dtype", tensor.dtype, &JsonReader::word<DType>));
  TFAOT_TRY(json.read("row_shape", tensor.row_shape, read_shape));
  return tensor;
}

Result<std::vector<TensorSpec>> read_tensors(const JsonReader& json) {
  return json.list(read_tensor, kMostTensors);
}

Result<Signature> read_signature(const JsonReader& json) {
  Signature signature;
  TFAOT_TRY(json.read("key", signature.key, read_tensor_name));
  TFAOT_TRY(json.read("inputs", signature.inputs, read_tensors));
  TFAOT_TRY(json.read("outputs", signature.outputs, read_tensors));
  return signature;
}

Result<ManifestFile> read_file(const JsonReader& json) {
  ManifestFile file;
  TFAOT_TRY(json.read("path", file.path, read_path));
  TFAOT_TRY(json.read("sha256", file.sha256, read_sha256));
  TFAOT_TRY(json.read("size", file.size, read_size));
  return file;
}

Result<std::vector<ManifestFile>> read_files(const JsonReader& json) {
  TFAOT_ASSIGN(std::vector<ManifestFile> files, json.list(read_file));
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (files[i - 1].path < files[i].path) continue;
    return json.failed(fmt::format("'{}' is out of order or listed twice", shown(files[i].path)));
  }
  for (const ManifestFile& file : files) {
    if (file.path == kManifestName) return json.failed("the manifest cannot list itself");
    if (file.path.starts_with("etc/scram.d/")) {
      return json.failed(fmt::format("'{}' is where an install puts a tool file", file.path));
    }
  }
  return files;
}

Status read_weights(const JsonReader& json, Manifest& manifest) {
  TFAOT_TRY(json.read("storage", manifest.weights, &JsonReader::word<WeightsMode>));
  TFAOT_TRY(json.read_if_there("type", manifest.weights_type, &JsonReader::word<WeightsType>));
  TFAOT_TRY(json.read("size", manifest.weights_size, read_size));
  TFAOT_TRY(json.read_if_there("model_size", manifest.model_weights_size, read_size));
  TFAOT_TRY(json.read("sha256", manifest.weights_sha256, read_optional_sha256));
  return {};
}

// The default has no key, so that older packages do not need one.
template <class Enum>
auto only(Enum expected) {
  return [expected](const JsonReader& json) -> Result<Enum> {
    TFAOT_ASSIGN(const std::string text, json.text());
    if (text == word_of(expected)) return expected;
    return json.failed(
        fmt::format("expected '{}', or no such key, not '{}'", word_of(expected), shown(text)));
  };
}

// What the file is and who made it.
Status read_identity(const JsonReader& json, Manifest& manifest) {
  TFAOT_TRY(json.read("toolkit_version", manifest.toolkit_version, read_toolkit_version));
  TFAOT_TRY(json.read("name", manifest.name, read_file_name));
  TFAOT_TRY(json.read("version", manifest.version, read_file_name));
  TFAOT_TRY(json.read("author", manifest.author, &JsonReader::text));
  TFAOT_TRY(json.read("description", manifest.description, &JsonReader::text));
  TFAOT_TRY(json.read("cpp_class", manifest.cpp_class, read_cpp_class));
  // So it is a C++ name too, as objects and symbols need it.
  if (!manifest.cpp_class.ends_with("::" + manifest.name)) {
    return json.failed(fmt::format("the model '{}' cannot have the class '{}'",
                                   shown(manifest.name), shown(manifest.cpp_class)));
  }
  TFAOT_TRY(json.read("tool_name", manifest.tool_name, read_tool_name));
  TFAOT_TRY(json.read("architecture", manifest.architecture, read_file_name));
  TFAOT_TRY(json.read("target_triple", manifest.target_triple, &JsonReader::text));
  TFAOT_TRY(json.read("engine", manifest.engine, &JsonReader::text));
  return {};
}

Status read_contents(const JsonReader& json, Manifest& manifest) {
  TFAOT_TRY(json.read("signature", manifest.signature, read_signature));
  TFAOT_TRY(json.read("batch_sizes", manifest.batch_sizes, read_batch_sizes));
  TFAOT_TRY(json.read("cpu_levels", manifest.cpu_levels, read_cpu_levels));
  if (manifest.batch_sizes.size() * manifest.cpu_levels.size() > kMostObjects) {
    return json.failed(
        fmt::format("{} batch sizes times {} CPU levels, but at most {} objects are "
                    "allowed",
                    manifest.batch_sizes.size(), manifest.cpu_levels.size(), kMostObjects));
  }
  TFAOT_ASSIGN(const JsonReader weights, json.member("weights"));
  TFAOT_TRY(read_weights(weights, manifest));
  TFAOT_TRY(json.read("tf_xla_flags", manifest.tf_xla_flags, read_texts));
  TFAOT_TRY(json.read("xla_flags", manifest.xla_flags, read_texts));
  TFAOT_TRY(json.read("source_sha256", manifest.source_sha256, read_sha256));
  TFAOT_TRY(json.read("files", manifest.files, read_files));
  return {};
}

}  // namespace

std::string manifest_to_json(const Manifest& manifest) {
  ordered_json json = {{"schema_version", manifest.schema_version},
                       {"toolkit_version", manifest.toolkit_version},
                       {"name", manifest.name},
                       {"version", manifest.version},
                       {"author", manifest.author},
                       {"description", manifest.description},
                       {"cpp_class", manifest.cpp_class},
                       {"tool_name", manifest.tool_name},
                       {"architecture", manifest.architecture},
                       {"target_triple", manifest.target_triple},
                       {"engine", manifest.engine},
                       {"signature", json_of<ordered_json>(manifest.signature)},
                       {"batch_sizes", manifest.batch_sizes},
                       {"cpu_levels", manifest.cpu_levels},
                       {"weights",
                        {{"storage", word_of(manifest.weights)},
                         {"size", manifest.weights_size},
                         {"sha256", manifest.weights_sha256}}},
                       {"tf_xla_flags", manifest.tf_xla_flags},
                       {"xla_flags", manifest.xla_flags},
                       {"source_sha256", manifest.source_sha256}};
  if (manifest.weights_type != WeightsType::kFloat32) {
    json["weights"]["type"] = word_of(manifest.weights_type);
  }
  if (manifest.model_weights_size > 0) json["weights"]["model_size"] = manifest.model_weights_size;
  if (manifest.optimize == Optimization::kSize) json["optimize"] = word_of(manifest.optimize);
  if (manifest.headers == HeadersMode::kCmssw) json["headers"] = word_of(manifest.headers);
  if (manifest.batch == BatchMode::kNone) json["batch"] = word_of(manifest.batch);
  if (manifest.rows == RowsMode::kCoupled) json["rows"] = word_of(manifest.rows);
  if (manifest.tuning) json["tuning"] = json_of<ordered_json>(*manifest.tuning);
  if (manifest.validation) json["validation"] = validation_to_json(*manifest.validation);
  json["files"] = json_of<ordered_json>(manifest.files);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<Manifest> manifest_from_json(const std::string& text, const std::string& where) {
  TFAOT_ASSIGN(const nlohmann::json document, parse_json(text, where));
  const JsonReader json(document, where);
  Manifest manifest;
  TFAOT_TRY(json.member("schema_version").and_then(check_schema_version));
  TFAOT_TRY(read_identity(json, manifest));
  TFAOT_TRY(read_contents(json, manifest));
  TFAOT_TRY(json.read_if_there("headers", manifest.headers, only(HeadersMode::kCmssw)));
  TFAOT_TRY(json.read_if_there("batch", manifest.batch, only(BatchMode::kNone)));
  TFAOT_TRY(json.read_if_there("optimize", manifest.optimize, only(Optimization::kSize)));
  TFAOT_TRY(json.read_if_there("rows", manifest.rows, only(RowsMode::kCoupled)));
  if (json.has("tuning")) {
    TFAOT_TRY(json.read("tuning", manifest.tuning, read_tuning));
    TFAOT_TRY(check_tuning(json, manifest));
  }
  if (json.has("validation")) {
    TFAOT_ASSIGN(const JsonReader validation, json.member("validation"));
    TFAOT_ASSIGN(manifest.validation, read_validation(validation, manifest));
  }
  return manifest;
}

Result<Manifest> read_manifest(const FileSystem& fs, const Path& file) {
  TFAOT_ASSIGN(const std::string text, read_limited(fs, file, kManifestLimit));
  return manifest_from_json(text, file.string());
}

}  // namespace tfaot::toolkit
