// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/engine_questions.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>

#include "engine_run.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/process.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/hlo_graph_json.h"
#include "tfaot/records/model_check_json.h"
#include "tfaot/records/model_description_json.h"
#include "tfaot/records/tf2xla_config_json.h"

namespace tfaot::toolkit {
namespace {

// Asks the engine about a file: it prints the answer as lines of JSON and compiles nothing. Safe
// from many threads.

struct EngineQuestion {
  std::string option;  // "--describe-model"
  Path file;           // what it is about, for errors too
  std::map<std::string, std::string> environment = {};
};

// Hands each line to `take`, which returns whether it is an answer. An answer counts even if the
// process crashes after it. Errors: what the engine reports; no answer.
Status ask_engine(const FileSystem& fs, const EngineProgram& engine, const EngineQuestion& question,
                  const std::function<bool(const std::string& line)>& take) {
  ProcessSpec process = engine_process(engine, question.environment);
  process.environment["TF_CPP_MIN_LOG_LEVEL"] = "3";
  process.arguments = {question.option, question.file.string()};
  process.timeout = engine.answer_time;
  TFAOT_ASSIGN(const auto result, run_process(process));
  bool answered = false;
  for (const std::string& line : split_lines(result.standard_output)) {
    if (take(line)) {
      answered = true;
      continue;
    }
    const auto said = engine_line_from_json(line);
    if (!said || said->word != EngineWord::kError) continue;
    const std::string file = said->file.empty() ? question.file.string() : said->file;
    Error error = Error::at({file, said->line}, said->text);
    for (const std::string& note : said->notes) error.note(note);
    return fail(std::move(error));
  }
  if (answered) return {};
  if (auto missing = missing_tensorflow(fs, engine, result)) return fail(std::move(*missing));
  if (result.timed_out) {
    return fail(
        Error::at({question.file.string()},
                  fmt::format("the engine did not read it within {} s", engine.answer_time.count()))
            .note(kTimeLimitAdvice));
  }
  if (result.over_memory) return fail(over_memory(engine, question.file, "the engine"));
  return fail(with_last_words(
      Error::internal(fmt::format("the engine did not read {}", question.file.string())), result));
}

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
  TFAOT_TRY(ask_engine(fs, engine, {.option = kDescribeOption, .file = model},
                       kept_in(description, model_description_from_json)));
  if (!description.signatures.empty()) return description;
  return fail(Error::at({model.string()}, "the SavedModel has no signatures")
                  .note("save it with signatures=..."));
}

Result<std::vector<CheckedOperation>> known_operations(const FileSystem& fs, ModelFormat format,
                                                       const EngineProgram& engine) {
  EngineCheck known;
  TFAOT_TRY(ask_engine(fs, engine, {.option = kOperationsOption, .file = word_of(format)},
                       kept_in(known, engine_check_from_json)));
  return std::move(known.operations);
}

Result<std::vector<HloGraph>> read_hlo(FileSystem& fs, const HloQuestion& question,
                                       const EngineProgram& engine, const Path& scratch) {
  const Path file = scratch / "question.json";
  TFAOT_TRY(fs.replace_atomically(file, hlo_question_to_json(question), Durability::kScratch));
  std::vector<HloGraph> graphs;
  TFAOT_TRY(ask_engine(fs, engine, {.option = kReadHloOption, .file = file},
                       [&](const std::string& line) {
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
  TFAOT_TRY(ask_engine(fs, engine, {.option = kConfigOption, .file = file},
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
