// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/describe_model.h"

#include "engine_question.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/records/model_description_json.h"

namespace tfaot::toolkit {

Result<ModelDescription> describe_model(const FileSystem& fs, const Path& model,
                                        const EngineProgram& engine) {
  TFAOT_TRY(check_model_files(fs, model));
  ModelDescription description;
  TFAOT_TRY(
      ask_engine(fs, engine, {.option = kDescribeOption, .file = model}, [&](const auto& line) {
        auto read = model_description_from_json(line);
        if (!read) return false;
        description = *std::move(read);
        return true;
      }));
  if (!description.signatures.empty()) return description;
  return fail(Error::at({model.string()}, "the SavedModel has no signatures")
                  .note("save it with signatures=..."));
}

}  // namespace tfaot::toolkit
