// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/engine_questions.h"

#include <fmt/format.h>

#include "engine_run.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/hlo_graph_json.h"
#include "tfaot/records/model_check_json.h"

namespace tfaot::toolkit {
namespace {

// Takes a line that `read` understands as the answer.
template <class Answer>
auto kept_in(Answer& answer, std::optional<Answer> (*read)(const std::string&)) {
  return [&answer, read](const std::string& line) {
    auto found = read(line);
    if (!found) return false;
    answer = *std::move(found);
    return true;
  };
}

}  // namespace

Result<ModelDescription> describe_model(const FileSystem& fs, const Path& model,
                                        const EngineProgram& engine) {
  TFAOT_TRY(check_model_files(fs, model));
  ModelDescription description;
  TFAOT_TRY(ask_engine(fs, engine, DescribeJob{model.string()}, model,
                       kept_in(description, model_description_from_json)));
  if (!description.signatures.empty()) return description;
  return fail(Error::at({model.string()}, "the SavedModel has no signatures")
                  .note("save it with signatures=..."));
}

Result<std::vector<CheckedOperation>> known_operations(const FileSystem& fs, ModelFormat format,
                                                       const EngineProgram& engine) {
  EngineCheck known;
  TFAOT_TRY(ask_engine(fs, engine, OperationsJob{format}, word_of(format),
                       kept_in(known, engine_check_from_json)));
  return std::move(known.operations);
}

Result<std::vector<HloGraph>> read_hlo(const FileSystem& fs, const HloQuestion& question,
                                       const EngineProgram& engine) {
  if (question.files.empty()) return std::vector<HloGraph>();
  std::vector<HloGraph> graphs;
  TFAOT_TRY(
      ask_engine(fs, engine, question, question.files.front().path, [&](const std::string& line) {
        auto graph = hlo_graph_from_json(line);
        if (!graph) return false;
        graphs.push_back(*std::move(graph));
        return true;
      }));
  if (graphs.size() == question.files.size()) return graphs;
  return fail(Error::at({question.files[graphs.size()].path}, "the engine did not read this HLO"));
}

Result<Tf2xlaConfig> read_tf2xla_config(const FileSystem& fs, const Path& file,
                                        const EngineProgram& engine) {
  Tf2xlaConfig config;
  TFAOT_TRY(ask_engine(fs, engine, Tf2xlaConfigJob{file.string()}, file,
                       kept_in(config, tf2xla_config_from_json)));
  return config;
}

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
  PredictJob job{job_model(plain), plain.compilation.batch_sizes.front(),
                 mapped(request.folders, [](const Path& folder) { return folder.string(); }),
                 request.limit.count()};
  std::size_t done = 0;
  const auto on_step = [&](const std::string& step) {
    diagnostics.progress(++done, request.folders.size(), step);
  };
  const EngineCall call{std::move(job), options.work_directory / "predictions.job",
                        "predictions of the model as it is", "TensorFlow"};
  TFAOT_ASSIGN(EngineResult result, run_engine(fs, plain, call, alone, on_step, diagnostics));
  if (result.refusals.size() == request.folders.size()) return result;
  return fail(Error::internal("the engine did not run all inputs"));
}

}  // namespace tfaot::toolkit
