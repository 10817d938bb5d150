// SPDX-License-Identifier: Apache-2.0
// TensorFlow's formats as a SourceModel.
#pragma once

#include <memory>

#include "lowering/source_model.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<SourceModel>> load_graph_source(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
