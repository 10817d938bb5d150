// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/compiled_model_json.h"

namespace tfaot::toolkit {

std::string compiled_model_to_json(const CompiledModel& model) {
  return json_document(json_of(model));
}

Result<CompiledModel> compiled_model_from_json(const std::string& text, const std::string& where) {
  return read_document<CompiledModel>(text, {where, "not a compilation record of this tfaot"});
}

}  // namespace tfaot::toolkit
