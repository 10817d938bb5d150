// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/engine_job_json.h"

#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(JobInput, tensor, dtype, has_shape, shape);
TFAOT_MEMBERS(JobModel, format, source, serving_key, inputs, outputs, dimensions, free_dimensions,
              constants, any_opset, fixed_shapes);
TFAOT_MEMBERS(JobLevel, name, cpu, features, kernels);
TFAOT_MEMBERS(JobHlo, model, batch_sizes, levels, embed_weights, weights_type, compute, fast_math,
              optimize, rows, row_sizes, weights_directory);
TFAOT_MEMBERS(JobCode, model_name, symbol_prefix, target_triple, output_directory);
TFAOT_MEMBERS(RemoteCachePlace, server, path, layout, read_only, authorization_file,
              connect_timeout, operation_timeout);
TFAOT_MEMBERS(JobCache, directory, remote, compiler_flags);
TFAOT_MEMBERS(JobDump, directory, passes);
TFAOT_MEMBERS(CompileJob, hlo, code, cache);
TFAOT_MEMBERS(CheckJob, compile);
TFAOT_MEMBERS(LowerJob, hlo, dump);
TFAOT_MEMBERS(CountJob, hlo, code);
TFAOT_MEMBERS(ResultsJob, hlo, code);
TFAOT_MEMBERS(DumpJob, hlo, code, dump);
TFAOT_MEMBERS(PredictJob, model, batch_size, folders, seconds);
TFAOT_MEMBERS(DescribeJob, source);
TFAOT_MEMBERS(OperationsJob, format);
TFAOT_MEMBERS(Tf2xlaConfigJob, file);
TFAOT_MEMBERS(HloFile, path, stage);
TFAOT_MEMBERS(HloQuestion, files, kernels, inputs, scratch_bytes);
TFAOT_MEMBERS(CountedOperation, name, category, inside, counter, origin);
TFAOT_MEMBERS(CountedCode, batch_size, cpu_level, counters, whole, operations);
TFAOT_MEMBERS(DescribedTensor, name, tensor, dtype, rank_known, shape, dimensions, origin);
TFAOT_MEMBERS(OperationCount, operation, count);
TFAOT_MEMBERS(DescribedSignature, key, inputs, outputs, constants, weights, operations,
              flops_per_row, problem, notes, newer_opset);
TFAOT_MEMBERS(ModelDescription, format, producer, signatures);
TFAOT_MEMBERS(Tf2xlaFeed, tensor, name, dtype, shape);
TFAOT_MEMBERS(Tf2xlaFetch, tensor, name);
TFAOT_MEMBERS(Tf2xlaConfig, feeds, fetches, variables);
TFAOT_MEMBERS(CachedTables, buffers, result_slot);
TFAOT_MEMBERS(OperationResult, kind, origin, shape);
TFAOT_MEMBERS(EngineResult, model, weight_files, coupled_rows, cached_bytes, refusals, counted,
              results);

namespace {

// A job is an object with one member, which has its name.
template <class Job>
struct Named {
  const char* name;
};
constexpr std::tuple kJobs{
    Named<CompileJob>{"compile"},     Named<CheckJob>{"check"},
    Named<LowerJob>{"lower"},         Named<CountJob>{"count"},
    Named<DumpJob>{"dump"},           Named<PredictJob>{"predict"},
    Named<DescribeJob>{"describe"},   Named<OperationsJob>{"operations"},
    Named<Tf2xlaConfigJob>{"config"}, Named<HloQuestion>{"read_hlo"},
    Named<ResultsJob>{"results"},
};

Result<EngineJob> read_job(const std::string& text) {
  TFAOT_ASSIGN(const auto json, parse_json(text, ""));
  const JsonReader reader(json, "");
  Result<EngineJob> job = reader.failed("no job has this name");
  const auto read = [&]<class Job>(const Named<Job>& one) {
    if (reader.has(one.name)) job = reader.member(one.name).and_then(read_value<Job>);
  };
  std::apply([&](const auto&... one) { (read(one), ...); }, kJobs);
  return job;
}

}  // namespace

std::string engine_job_to_json(const EngineJob& job) {
  return std::visit(
      []<class Job>(const Job& one) {
        return json_document({{std::get<Named<Job>>(kJobs).name, json_of(one)}});
      },
      job);
}

Result<EngineJob> engine_job_from_json(const std::string& text) {
  auto job = read_job(text);
  if (job) return job;
  Error error = Error::internal("not an engine job").note(job.error().message());
  for (const std::string& note : job.error().notes()) error.note(note);
  return fail(std::move(error));
}

std::string engine_result_to_json(const EngineResult& result) {
  return json_document(json_of(result));
}

Result<EngineResult> engine_result_from_json(const std::string& text, const std::string& where) {
  return read_document<EngineResult>(text, {where, "not an engine's result"});
}

std::string model_description_to_json(const ModelDescription& model) {
  return tagged_line("model", model);
}

std::optional<ModelDescription> model_description_from_json(const std::string& line) {
  return from_tagged_line<ModelDescription>("model", line);
}

std::string tf2xla_config_to_json(const Tf2xlaConfig& config) {
  return tagged_line("config", config);
}

std::optional<Tf2xlaConfig> tf2xla_config_from_json(const std::string& line) {
  return from_tagged_line<Tf2xlaConfig>("config", line);
}

std::string cached_tables_to_json(const CachedTables& tables) { return json_line(json_of(tables)); }

std::optional<CachedTables> cached_tables_from_json(const std::string& line) {
  const auto json = parse_json(line, "");
  if (!json) return std::nullopt;
  auto tables = read_value<CachedTables>(JsonReader(*json, ""));
  return tables ? std::make_optional(*std::move(tables)) : std::nullopt;
}

}  // namespace tfaot::toolkit
