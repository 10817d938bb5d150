// SPDX-License-Identifier: Apache-2.0
// tfaot-engine JOB.json: compiles a share of a model's batch sizes for all CPU levels
// (job_types.h). Started by the compile room; the only program that links TensorFlow.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "canonical.h"
#include "code_cache.h"
#include "conversions.h"
#include "lowering.h"
#include "object_code.h"
#include "tensorflow/core/public/version.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/hash.h"
#include "tfaot/compile/compile_json.h"
#include "tfaot/compile/job_json.h"

namespace tfaot::engine {
namespace {

constexpr std::uint64_t kWeightAlignment = 64;

void say(const nlohmann::json& line) {
  std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

// The table of the weights, and their bytes one after the other.
std::string lay_out_weights(const SignatureFunction& function,
                            const std::vector<std::size_t>& parameters, CompiledModel& record) {
  std::string blob;
  for (const auto index : parameters) {
    const auto& weight = function.weights[index];
    const auto bytes = weight.value.tensor_data();
    blob.resize((blob.size() + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment);
    Weight entry;
    entry.name = weight.name;
    entry.dtype = *dtype_from_name(type_name(weight.value.dtype()));
    for (const auto& dimension : weight.value.shape()) entry.shape.push_back(dimension.size);
    entry.offset = blob.size();
    entry.size = bytes.size();
    blob.append(bytes.data(), bytes.size());
    record.weights.push_back(std::move(entry));
  }
  record.weights_size = blob.size();
  if (!blob.empty()) record.weights_sha256 = sha256_of(blob);
  return blob;
}

// From the cache, or made and put there.
Result<ObjectCode> object_code(FileSystem& fs, const EngineJob& job, const Lowering& lowering,
                               const LoweredModel& lowered, const JobLevel& level,
                               CompiledCode& record) {
  CodeCache cache(fs, job);
  if (auto cached = cache.find(record.hlo_sha256, level)) {
    record.from_cache = true;
    return std::move(*cached);
  }
  TFAOT_ASSIGN(auto made, make_object_code(lowering.client(), lowered, level, job.target_triple));
  const auto kept = cache.keep(record.hlo_sha256, level, made);
  if (!kept) say({{kJobNoteKey, "the code is not cached: " + kept.error().text()}});
  return made;
}

Status compile_batch_size(FileSystem& fs, const EngineJob& job, const Lowering& lowering,
                          std::int64_t batch_size, CompiledModel& record) {
  TFAOT_ASSIGN(auto lowered, lowering.lower(batch_size));
  if (record.codes.empty()) TFAOT_TRY(lowering.check_rows(lowered, batch_size));
  record.signature.inputs = lowered.inputs;
  record.signature.outputs = lowered.outputs;
  TFAOT_ASSIGN(lowered.computation, canonical(lowered.computation));
  const auto hlo = hlo_sha256(lowered.computation);
  for (const auto& level : job.levels) {
    CompiledCode code;
    code.batch_size = batch_size;
    code.cpu_level = level.name;
    code.object = object_file_name(job, batch_size, level.name);
    code.entry_symbol = entry_symbol(job, batch_size, level.name);
    code.hlo_sha256 = hlo;
    TFAOT_ASSIGN(auto made, object_code(fs, job, lowering, lowered, level, code));
    TFAOT_TRY(fs.replace_atomically(Path(job.output_directory) / code.object, made.bytes));
    code.buffers = std::move(made.buffers);
    code.result_slot = made.result_slot;
    say({{kJobProgressKey, fmt::format("batch size {}, {}{}", batch_size, level.name,
                                       code.from_cache ? " (from the cache)" : "")}});
    record.codes.push_back(std::move(code));
  }
  return {};
}

Status run(FileSystem& fs, const EngineJob& job) {
  TFAOT_ASSIGN(const auto model, ModelGraph::load(job));
  TFAOT_ASSIGN(const auto function, make_signature_function(*model));
  TFAOT_ASSIGN(const auto lowering, Lowering::create(*model, function, job.embed_weights));
  CompiledModel record;
  record.engine = std::string("tensorflow ") + TF_VERSION_STRING;
  record.target_triple = job.target_triple;
  record.signature.key = job.serving_key;
  const auto blob = lay_out_weights(function, lowering.weight_parameters(), record);
  if (!job.weights_file.empty() && !blob.empty()) {
    TFAOT_TRY(fs.replace_atomically(job.weights_file, blob));
  }
  for (const auto batch_size : job.batch_sizes) {
    TFAOT_TRY(compile_batch_size(fs, job, lowering, batch_size, record));
  }
  return fs.replace_atomically(job.result_file, compiled_model_to_json(record));
}

}  // namespace
}  // namespace tfaot::engine

int main(int argc, char** argv) {
  using namespace tfaot;
  if (argc != 2) {
    std::cerr << "usage: tfaot-engine JOB.json   (started by tfaot compile)\n";
    return 2;
  }
  RealFileSystem fs;
  const auto text = fs.read(argv[1]);
  const auto job = text ? engine_job_from_json(*text) : fail(text.error());
  const Status done = job ? engine::run(fs, *job) : fail(job.error());
  if (done) return 0;
  engine::say({{kJobErrorKey, done.error().message()}, {kJobNotesKey, done.error().notes()}});
  return done.error().kind() == ErrorKind::kInternal ? 3 : 1;
}
