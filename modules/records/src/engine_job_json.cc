// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/engine_job_json.h"

#include "model_section_json.h"
#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<JobInput> =
    std::tuple{Member{"tensor", &JobInput::tensor}, Member{"dtype", &JobInput::dtype},
               Member{"has_shape", &JobInput::has_shape}, Member{"shape", &JobInput::shape}};
template <>
inline constexpr auto kMembers<JobLevel> =
    std::tuple{Member{"name", &JobLevel::name}, Member{"cpu", &JobLevel::cpu},
               Member{"features", &JobLevel::features}, Member{"kernels", &JobLevel::kernels}};
template <>
inline constexpr auto kMembers<RemoteCachePlace> =
    std::tuple{Member{"server", &RemoteCachePlace::server},
               Member{"path", &RemoteCachePlace::path},
               Member{"layout", &RemoteCachePlace::layout},
               Member{"read_only", &RemoteCachePlace::read_only},
               Member{"authorization_file", &RemoteCachePlace::authorization_file},
               Member{"connect_timeout", &RemoteCachePlace::connect_timeout},
               Member{"operation_timeout", &RemoteCachePlace::operation_timeout}};
template <>
inline constexpr auto kMembers<EngineJob> =
    std::tuple{Member{"model_name", &EngineJob::model_name},
               Member{"format", &EngineJob::format},
               Member{"source", &EngineJob::source},
               Member{"serving_key", &EngineJob::serving_key},
               Member{"inputs", &EngineJob::inputs},
               Member{"outputs", &EngineJob::outputs},
               Member{"dimensions", &EngineJob::dimensions},
               Member{"constants", &EngineJob::constants},
               Member{"any_opset", &EngineJob::any_opset},
               Member{"fixed_shapes", &EngineJob::fixed_shapes},
               Member{"symbol_prefix", &EngineJob::symbol_prefix},
               Member{"target_triple", &EngineJob::target_triple},
               Member{"batch_sizes", &EngineJob::batch_sizes},
               Member{"levels", &EngineJob::levels},
               Member{"embed_weights", &EngineJob::embed_weights},
               Member{"weights_type", &EngineJob::weights_type},
               Member{"optimize", &EngineJob::optimize},
               Member{"fast_math", &EngineJob::fast_math},
               Member{"row_sizes", &EngineJob::row_sizes},
               Member{"allow_coupled_rows", &EngineJob::allow_coupled_rows},
               Member{"lower_only", &EngineJob::lower_only},
               Member{"check", &EngineJob::check},
               Member{"count_operations", &EngineJob::count_operations},
               Member{"compiler_flags", &EngineJob::compiler_flags},
               Member{"cache_directory", &EngineJob::cache_directory},
               Member{"remote_cache", &EngineJob::remote_cache},
               Member{"output_directory", &EngineJob::output_directory},
               Member{"weights_directory", &EngineJob::weights_directory},
               Member{"result_file", &EngineJob::result_file},
               Member{"dump_directory", &EngineJob::dump_directory},
               Member{"dump_passes", &EngineJob::dump_passes},
               Member{"predictions", &EngineJob::predictions},
               Member{"prediction_seconds", &EngineJob::prediction_seconds}};
template <>
inline constexpr auto kMembers<CountedOperation> = std::tuple{
    Member{"name", &CountedOperation::name}, Member{"category", &CountedOperation::category},
    Member{"inside", &CountedOperation::inside}, Member{"counter", &CountedOperation::counter},
    Member{"origin", &CountedOperation::origin}};
template <>
inline constexpr auto kMembers<CountedCode> = std::tuple{
    Member{"batch_size", &CountedCode::batch_size}, Member{"cpu_level", &CountedCode::cpu_level},
    Member{"counters", &CountedCode::counters}, Member{"whole", &CountedCode::whole},
    Member{"operations", &CountedCode::operations}};
template <>
inline constexpr auto kMembers<EngineResult> =
    std::tuple{Member{"model", &EngineResult::model},
               Member{"weight_files", &EngineResult::weight_files},
               Member{"coupled_rows", &EngineResult::coupled_rows},
               Member{"cached_bytes", &EngineResult::cached_bytes},
               Member{"refusals", &EngineResult::refusals},
               Member{"counted", &EngineResult::counted}};

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
