// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/tf2xla_config.h"

#include "engine_question.h"
#include "tfaot/records/tf2xla_config_json.h"

namespace tfaot::toolkit {

Result<Tf2xlaConfig> read_tf2xla_config(const FileSystem& fs, const Path& file,
                                        const EngineProgram& engine) {
  Tf2xlaConfig config;
  TFAOT_TRY(ask_engine(fs, engine, {.option = kConfigOption, .file = file}, [&](const auto& line) {
    auto read = tf2xla_config_from_json(line);
    if (!read) return false;
    config = *std::move(read);
    return true;
  }));
  return config;
}

}  // namespace tfaot::toolkit
