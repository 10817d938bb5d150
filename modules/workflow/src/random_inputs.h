// SPDX-License-Identifier: Apache-2.0
// How random inputs of a model should be drawn: the engine lowers the model, and its operations
// show which inputs are masks, paddings or indices. Used by one thread.
#pragma once

#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/input_use.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

// Of each input of the signature, which is the model's. Error: the model cannot be lowered here.
Result<std::vector<InputUse>> find_input_uses(Context& context, const ModelSpec& spec,
                                              const Signature& signature, const EngineRun& engine);

}  // namespace tfaot::toolkit
