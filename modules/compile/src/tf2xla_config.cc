// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/tf2xla_config.h"

#include <fmt/format.h>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/tf2xla_config_json.h"

namespace tfaot::toolkit {

Result<Tf2xlaConfig> read_tf2xla_config(const FileSystem& fs, const Path& file,
                                        const EngineProgram& engine) {
  ProcessSpec process = engine_process(engine, {{"TF_CPP_MIN_LOG_LEVEL", "3"}});
  process.arguments = {kConfigOption, file.string()};
  TFAOT_ASSIGN(const auto result, run_process(process));
  for (const std::string& line : split_lines(result.standard_output)) {
    if (auto config = tf2xla_config_from_json(line)) return *std::move(config);
    const auto said = engine_line_from_json(line);
    if (!said || said->word != EngineWord::kError) continue;
    Error error = Error::at({file.string(), said->line}, said->text);
    for (const std::string& note : said->notes) error.note(note);
    return fail(std::move(error));
  }
  if (auto missing = missing_tensorflow(fs, engine, result)) return fail(std::move(*missing));
  return fail(with_last_words(
      Error::internal(fmt::format("the engine did not read {}", file.string())), result));
}

}  // namespace tfaot::toolkit
