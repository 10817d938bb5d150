// SPDX-License-Identifier: Apache-2.0
// The part of a SavedModel's graph that loading runs to fill variables, checked: it computes, and
// reads nothing but the model's own checkpoint. Tables, assets and whatever else a model does when
// it is loaded are left out. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct LoadingGraph {
  tensorflow::GraphDef graph;
  std::string file_tensor;           // where the checkpoint's path goes; empty: nowhere
  std::vector<std::string> restore;  // operations to run, these first
  std::vector<std::string> initialize;
};

// `whole` is the model's graph, wherever it is kept. Errors: operations that do more than to
// compute, by name.
Result<LoadingGraph> loading_graph(const tensorflow::MetaGraphDef& model,
                                   const tensorflow::GraphDef& whole);

}  // namespace tfaot::toolkit::engine
