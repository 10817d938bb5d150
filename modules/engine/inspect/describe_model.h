// SPDX-License-Identifier: Apache-2.0
// The contents of a model. Compiles nothing. Used by one thread.
#pragma once

#include <functional>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/model_description.h"

namespace tfaot::toolkit::engine {

// `source`: a SavedModel's folder, or a file of any other format. Calls `say` when the model is
// read, and again for each signature whose operations are counted: XLA may end the process in
// between.
Status describe_model(const std::string& source,
                      const std::function<void(const ModelDescription&)>& say);

}  // namespace tfaot::toolkit::engine
