// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/engine_job_json.h"

#include "model_section_json.h"
#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(JobInput, tensor, dtype, has_shape, shape);
TFAOT_MEMBERS(JobLevel, name, cpu, features, kernels);
TFAOT_MEMBERS(RemoteCachePlace, server, path, layout, read_only, authorization_file,
              connect_timeout, operation_timeout);
TFAOT_MEMBERS(EngineJob, model_name, format, source, serving_key, inputs, outputs, dimensions,
              constants, any_opset, fixed_shapes, symbol_prefix, target_triple, batch_sizes, levels,
              embed_weights, weights_type, optimize, fast_math, row_sizes, allow_coupled_rows,
              lower_only, check, count_operations, compiler_flags, cache_directory, remote_cache,
              output_directory, weights_directory, result_file, dump_directory, dump_passes,
              predictions, prediction_seconds);
TFAOT_MEMBERS(CountedOperation, name, category, inside, counter, origin);
TFAOT_MEMBERS(CountedCode, batch_size, cpu_level, counters, whole, operations);
TFAOT_MEMBERS(EngineResult, model, weight_files, coupled_rows, cached_bytes, refusals, counted);

std::string engine_job_to_json(const EngineJob& job) { return json_document(json_of(job)); }

Result<EngineJob> engine_job_from_json(const std::string& text) {
  auto job = read_document<EngineJob>(text, {"", "not an engine job"});
  if (job) return job;
  Error error = Error::internal(job.error().message());
  for (const std::string& note : job.error().notes()) error.note(note);
  return fail(std::move(error));
}

std::string engine_result_to_json(const EngineResult& result) {
  return json_document(json_of(result));
}

Result<EngineResult> engine_result_from_json(const std::string& text, const std::string& where) {
  return read_document<EngineResult>(text, {where, "not an engine's result"});
}

}  // namespace tfaot::toolkit
