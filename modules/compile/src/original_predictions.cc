// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/original_predictions.h"

#include "engine_jobs.h"
#include "engine_run.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/records/engine_job_json.h"

namespace tfaot::toolkit {

Result<EngineResult> original_predictions(FileSystem& fs, const ModelSpec& spec,
                                          const PredictionsRequest& request,
                                          const CompileOptions& options, Diagnostics& diagnostics) {
  TFAOT_TRY(check_model_files(fs, spec.model.source));
  ModelSpec plain = spec;  // flags are for the compiler, not for TensorFlow
  plain.compilation.optimize = Optimization::kSpeed;
  plain.compilation.xla_flags.clear();
  plain.compilation.tf_xla_flags.clear();
  CompileOptions alone = options;
  alone.jobs = 1;
  EngineJob job = make_engine_jobs(plain, alone).front();
  for (const Path& folder : request.folders) job.predictions.push_back(folder.string());
  job.prediction_seconds = request.limit.count();
  const Path file = Path(job.result_file).replace_extension(".job");
  TFAOT_TRY(fs.replace_atomically(file, engine_job_to_json(job), Durability::kScratch));
  std::size_t done = 0;
  const auto on_step = [&](const std::string& step) {
    diagnostics.progress(++done, request.folders.size(), step);
  };
  TFAOT_ASSIGN(EngineResult result, run_engine(fs, plain, job, file, alone, on_step, diagnostics));
  if (result.refusals.size() == request.folders.size()) return result;
  return fail(Error::internal("the engine did not run all inputs"));
}

}  // namespace tfaot::toolkit
