// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/known_operations.h"

#include "engine_question.h"
#include "tfaot/records/model_check_json.h"

namespace tfaot::toolkit {

Result<std::vector<CheckedOperation>> known_operations(const FileSystem& fs, ModelFormat format,
                                                       const EngineProgram& engine) {
  EngineCheck known;
  TFAOT_TRY(ask_engine(fs, engine, {.option = kOperationsOption, .file = word_of(format)},
                       [&](const std::string& line) {
                         auto read = engine_check_from_json(line);
                         if (!read) return false;
                         known = *std::move(read);
                         return true;
                       }));
  return std::move(known.operations);
}

}  // namespace tfaot::toolkit
