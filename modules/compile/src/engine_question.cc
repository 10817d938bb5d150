// SPDX-License-Identifier: Apache-2.0
#include "engine_question.h"

#include <fmt/format.h>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"
#include "tfaot/records/engine_line.h"

namespace tfaot::toolkit {

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

}  // namespace tfaot::toolkit
