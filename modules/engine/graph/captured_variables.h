// SPDX-License-Identifier: Apache-2.0
// Finds out which object of a SavedModel each variable of its graph is, and where the checkpoint
// has it. Names do not tell: layers inside of one Keras layer may have variables of the same name,
// and the graph then numbers them in an order of its own. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/protobuf/trackable_object_graph.pb.h"

namespace tfaot::toolkit::engine {

// By resource_name(): the number of the object that a call of one of the model's functions passes
// on with the variable.
std::map<std::string, int> captured_variables(const tensorflow::MetaGraphDef& model);

// The keys of variables in the checkpoint, by the numbers that their objects have in the model.
// Both graphs have the same names between objects.
std::map<int, std::string> keys_of_objects(const tensorflow::SavedObjectGraph& model,
                                           const tensorflow::TrackableObjectGraph& checkpoint);

// The key of the variable of that name ("dense/kernel"), if there is one alone.
std::optional<std::string> key_of_name(const tensorflow::TrackableObjectGraph& checkpoint,
                                       const std::string& name);

}  // namespace tfaot::toolkit::engine
