// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/tf2xla_config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine_failure.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/job_json.h"
#include "tfaot/compile/tf2xla_json.h"

namespace tfaot::toolkit {
Result<Tf2xlaConfig> read_tf2xla_config(const FileSystem& fs, const Path& file,
                                        const Path& engine) {
  ProcessSpec process;
  process.program = engine;
  process.arguments = {kConfigOption, file.string()};
  process.environment = {{"TF_CPP_MIN_LOG_LEVEL", "3"}};
  TFAOT_ASSIGN(const auto result, run_process(process));
  for (const std::string& line : split_lines(result.standard_output)) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    if (json.contains(kConfigKey)) return json[kConfigKey].get<Tf2xlaConfig>();
    if (!json.contains(kJobErrorKey)) continue;
    Error error = Error::at({file.string(), json.value(kJobLineKey, 0)},
                            json[kJobErrorKey].get<std::string>());
    for (const auto& note : json.value(kJobNotesKey, std::vector<std::string>{})) error.note(note);
    return fail(std::move(error));
  }
  if (auto missing = missing_tensorflow(fs, engine, result)) return fail(std::move(*missing));
  return fail(with_last_words(
      Error::internal(fmt::format("the engine did not read {}", file.string())), result));
}

}  // namespace tfaot::toolkit
