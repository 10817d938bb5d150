// SPDX-License-Identifier: Apache-2.0
// The part of a SavedModel's graph that loading runs to fill variables, after a check: it only
// computes, and reads nothing but the model's own checkpoint. Tables, assets and everything else
// that a model does on loading are left out. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct LoadingGraph {
  tensorflow::GraphDef graph;
  std::string file_tensor;           // the tensor that takes the checkpoint's path; empty: none
  std::vector<std::string> restore;  // operations to run first
  std::vector<std::string> initialize;
};

// `whole` is the model's graph, which may be stored elsewhere. Errors: operations that do more than
// compute, by name.
Result<LoadingGraph> loading_graph(const tensorflow::MetaGraphDef& model,
                                   const tensorflow::GraphDef& whole);

}  // namespace tfaot::toolkit::engine
