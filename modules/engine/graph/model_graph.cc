// SPDX-License-Identifier: Apache-2.0
#include "graph/model_graph.h"

#include "graph/frozen_graph.h"
#include "graph/saved_model_graph.h"
#include "lowering/open_sizes.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<ModelGraph>> ModelGraph::load(const EngineJob& job) {
  TFAOT_ASSIGN(auto model, job.format == ModelFormat::kFrozenGraph ? load_frozen_graph(job)
                                                                   : load_saved_model(job));
  TFAOT_TRY(set_open_sizes(model->inputs_, job));
  return model;
}

}  // namespace tfaot::toolkit::engine
