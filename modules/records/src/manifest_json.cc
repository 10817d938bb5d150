// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/manifest_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "manifest_rules.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/free_tensors.h"
#include "tfaot/records/json_text.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/record_json.h"
#include "tfaot/records/validation_json.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;

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

Result<std::int64_t> read_record_version(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t version, json.number());
  if (version >= 0 && version <= kLargestRecordVersion) return version;
  return json.failed(fmt::format("{} is not from 0 to {}", version, kLargestRecordVersion));
}

Result<std::vector<TunedCall>> read_calls(const JsonReader& json);
Result<TensorSpec> read_tensor(const JsonReader& json) {
  TensorSpec tensor;
  TFAOT_TRY(json.read("name", tensor.name, read_tensor_name));
  TFAOT_TRY(json.read("dtype", tensor.dtype, &JsonReader::word<DType>));
  TFAOT_TRY(json.read("row_shape", tensor.row_shape, read_shape));
  TFAOT_TRY(
      json.read_if_there("free_shape", tensor.free_shape, read_value<std::vector<SizeFormula>>));
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

bool is_linker_name(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_name_character(c) || c == '$'; });
}

Result<std::vector<std::string>> read_imports(const JsonReader& json) {
  TFAOT_ASSIGN(std::vector<std::string> imports, read_texts(json));
  const bool is_sorted = std::ranges::is_sorted(imports, std::ranges::less_equal());
  if (is_sorted && std::ranges::all_of(imports, is_linker_name)) return imports;
  return json.failed("expected names of symbols, sorted, each once");
}

// Of a member whose default has no key.
template <auto kExpected>
Result<decltype(kExpected)> only(const JsonReader& json) {
  TFAOT_ASSIGN(const std::string text, json.text());
  if (text == word_of(kExpected)) return kExpected;
  return json.failed(
      fmt::format("expected '{}', or no such key, not '{}'", word_of(kExpected), shown(text)));
}

}  // namespace

template <>
inline constexpr auto kMembers<TunedCall> =
    std::array{member<&TunedCall::batch_size>("batch_size"),
               member<&TunedCall::cpu_level>("cpu_level"),
               member<&TunedCall::ns, read_time>("ns"),
               member<&TunedCall::low, read_time>("low"),
               member<&TunedCall::high, read_time>("high"),
               member<&TunedCall::repeats, read_size>("repeats"),
               new_member<&TunedCall::live_permille, read_permille>("live_permille")};
template <>
inline constexpr auto kMembers<Tuning> =
    std::array{member<&Tuning::cpu>("cpu"), member<&Tuning::calls, read_calls>("calls")};
template <>
inline constexpr auto kMembers<ManifestWeights> = std::array{
    member<&ManifestWeights::storage>("storage"), member<&ManifestWeights::size, read_size>("size"),
    member<&ManifestWeights::sha256, read_optional_sha256>("sha256"),
    member_unless_default<&ManifestWeights::type>("type"),
    member_unless_default<&ManifestWeights::model_size, read_size>("model_size")};
template <>
inline constexpr auto kMembers<ModelRecord> =
    std::array{member<&ModelRecord::model_name>("model_name"),
               member<&ModelRecord::version, read_record_version>("version"),
               member<&ModelRecord::hash, read_sha256>("hash")};
template <>
inline constexpr auto kMembers<ManifestFile> =
    std::array{member<&ManifestFile::path, read_path>("path"),
               member<&ManifestFile::sha256, read_sha256>("sha256"),
               member<&ManifestFile::size, read_size>("size")};

template <>
inline constexpr auto kMembers<LevelBits> =
    std::array{member<&LevelBits::cpu_levels, read_cpu_levels>("cpu_levels"),
               member<&LevelBits::sha256, read_sha256>("sha256")};
template <>
inline constexpr auto kMembers<SameBits> = std::array{
    member<&SameBits::rows, read_batch_sizes>("rows"), member<&SameBits::threads>("threads"),
    member<&SameBits::inputs_sha256, read_sha256>("inputs_sha256"),
    member<&SameBits::outputs>("outputs")};

// All but the validation and the files, which come last.
template <>
inline constexpr auto kMembers<Manifest> = std::array{
    member<&Manifest::schema_version, read_schema_version>("schema_version"),
    member<&Manifest::toolkit_version, read_toolkit_version>("toolkit_version"),
    member<&Manifest::name, read_file_name>("name"),
    member<&Manifest::version, read_file_name>("version"),
    member<&Manifest::author>("author"),
    member<&Manifest::description>("description"),
    member<&Manifest::cpp_class, read_cpp_class>("cpp_class"),
    member<&Manifest::tool_name, read_tool_name>("tool_name"),
    member<&Manifest::architecture, read_file_name>("architecture"),
    member<&Manifest::target_triple>("target_triple"),
    member<&Manifest::engine>("engine"),
    member<&Manifest::signature, read_signature>("signature"),
    member<&Manifest::batch_sizes, read_batch_sizes>("batch_sizes"),
    member<&Manifest::cpu_levels, read_cpu_levels>("cpu_levels"),
    member<&Manifest::weights>("weights"),
    member<&Manifest::tf_xla_flags, read_texts>("tf_xla_flags"),
    member<&Manifest::xla_flags, read_texts>("xla_flags"),
    member<&Manifest::source_sha256, read_sha256>("source_sha256"),
    member_unless_default<&Manifest::compute, only<ComputeType::kBfloat16>>("compute"),
    member_unless_default<&Manifest::optimize, only<Optimization::kSize>>("optimize"),
    member_unless_default<&Manifest::headers, only<HeadersMode::kCmssw>>("headers"),
    member_unless_default<&Manifest::batch, only<BatchMode::kNone>>("batch"),
    member_unless_default<&Manifest::rows, only<RowsMode::kCoupled>>("rows"),
    member_unless_default<&Manifest::dimensions>("dimensions"),
    member_unless_default<&Manifest::imports, read_imports>("imports"),
    member_unless_default<&Manifest::record>("record"),
    member_unless_default<&Manifest::tuning>("tuning"),
    member_unless_default<&Manifest::bits>("bits"),
};

namespace {

Result<TunedCall> read_call(const JsonReader& json) {
  TFAOT_ASSIGN(TunedCall call, read_value<TunedCall>(json));
  if (call.low <= call.ns && call.ns <= call.high) return call;
  return json.failed("the interval from 'low' to 'high' does not hold 'ns'");
}

Result<std::vector<TunedCall>> read_calls(const JsonReader& json) { return json.list(read_call); }

Result<std::vector<ManifestFile>> read_files(const JsonReader& json) {
  TFAOT_ASSIGN(std::vector<ManifestFile> files, json.list(read_value<ManifestFile>));
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

Status check_identity(const JsonReader& json, const Manifest& manifest) {
  // So it is a C++ name too, as objects and symbols need it.
  if (manifest.cpp_class.ends_with("::" + manifest.name)) return {};
  return json.failed(fmt::format("the model '{}' cannot have the class '{}'", shown(manifest.name),
                                 shown(manifest.cpp_class)));
}

Status check_objects(const JsonReader& json, const Manifest& manifest) {
  if (manifest.batch_sizes.size() * manifest.cpu_levels.size() <= kMostObjects) return {};
  return json.failed(
      fmt::format("{} batch sizes times {} CPU levels, but at most {} objects are allowed",
                  manifest.batch_sizes.size(), manifest.cpu_levels.size(), kMostObjects));
}

// The record is of this model and these objects, or it would name other ones.
Status check_record(const JsonReader& json, const Manifest& manifest) {
  if (manifest.record->model_name != manifest.name) {
    return json.failed(
        fmt::format("the record is of a model '{}'", shown(manifest.record->model_name)));
  }
  if (manifest.record->hash == code_sha256(manifest.files)) return {};
  return json.failed("the record's hash is not that of the objects");
}

Status check_free_sizes(const JsonReader& json, const Manifest& manifest) {
  const std::string problem = free_sizes_problem(manifest.signature, manifest.dimensions);
  return problem.empty() ? Status() : Status(json.failed(problem));
}

// Refuses costs for code that the package does not hold, and duplicates. `json` is the manifest.
Status check_tuning(const JsonReader& json, const Manifest& manifest) {
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const TunedCall& call : manifest.tuning->calls) {
    const std::string what =
        fmt::format("tuning: batch size {}, CPU level {}", call.batch_size, call.cpu_level);
    if (!contains(manifest.batch_sizes, call.batch_size) ||
        !contains(manifest.cpu_levels, call.cpu_level)) {
      return json.failed(what + " is not in the package");
    }
    if (!seen.emplace(call.batch_size, call.cpu_level).second) {
      return json.failed(what + " is listed twice");
    }
  }
  return {};
}

// Hashes are of levels that the package has.
Status check_bits(const JsonReader& json, const Manifest& manifest) {
  for (const LevelBits& bits : manifest.bits->outputs) {
    for (const std::string& level : bits.cpu_levels) {
      if (contains(manifest.cpu_levels, level)) continue;
      return json.failed(fmt::format("bits: the package has no '{}'", shown(level)));
    }
  }
  return {};
}

constexpr std::string_view kObjectEnd = "\n}";
constexpr std::string_view kOwnHash = ",\n  \"manifest_sha256\": \"";

// The last member of a manifest is the hash of the text before it.
std::string with_own_hash(const std::string& text) {
  return fmt::format("{}{}{}\"{}\n", text, kOwnHash, sha256_of(text), kObjectEnd);
}

}  // namespace

std::string manifest_to_json(const Manifest& manifest) {
  auto json = json_of(manifest);
  if (manifest.validation) json["validation"] = validation_to_json(*manifest.validation);
  json["files"] = json_of(manifest.files);
  const std::string text = json_to_text(json, 2);
  return with_own_hash(text.substr(0, text.size() - kObjectEnd.size()));
}

Status check_own_hash(const std::string& text, const std::string& where) {
  const std::size_t end = text.rfind(kOwnHash);
  const bool is_right = end == std::string::npos ? text.ends_with("]\n}\n")  // of an older tfaot
                                                 : text == with_own_hash(text.substr(0, end));
  if (is_right) return {};
  return fail(Error::at({where}, "differs from its own SHA-256, so it was damaged or edited"));
}

Result<Manifest> manifest_from_json(const std::string& text, const std::string& where) {
  TFAOT_ASSIGN(const nlohmann::json document, parse_json(text, where));
  const JsonReader json(document, where);
  TFAOT_ASSIGN(Manifest manifest, read_value<Manifest>(json));
  TFAOT_TRY(check_identity(json, manifest));
  TFAOT_TRY(check_objects(json, manifest));
  TFAOT_TRY(check_free_sizes(json, manifest));
  TFAOT_TRY(json.read("files", manifest.files, read_files));
  if (manifest.tuning) TFAOT_TRY(check_tuning(json, manifest));
  if (manifest.record) TFAOT_TRY(check_record(json, manifest));
  if (manifest.bits) TFAOT_TRY(check_bits(json, manifest));
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
