// SPDX-License-Identifier: Apache-2.0
// Placeholders of a graph that are no inputs: model.constants of the config gives them values,
// before anything else is done with the graph. Pure functions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tensorflow/core/framework/graph.pb.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

// Before version 22 of GraphDef, a placeholder of unknown shape was written like a scalar: makes
// its shape unknown, as TensorFlow does.
void read_old_shapes(tensorflow::GraphDef& graph);

// Truth values of constants that are neither 0 nor 1 become 1, also in functions.
void read_bools(tensorflow::GraphDef& graph);

// Replaces the placeholders by constants. `inputs`: the nodes of the model's inputs. Errors: there
// is no such placeholder, it is an input, the value does not fit.
Status fix_placeholders(tensorflow::GraphDef& graph, const std::vector<ModelConstant>& constants,
                        const std::set<std::string>& inputs);

bool is_placeholder(const tensorflow::NodeDef& node);

// Placeholders that look like no inputs, with a value that they may have: single truth values and
// single whole numbers.
std::vector<ModelConstant> likely_constants(
    const std::vector<const tensorflow::NodeDef*>& placeholders);

}  // namespace tfaot::toolkit::engine
