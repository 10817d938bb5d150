// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include <fmt/format.h>

#include "conversions.h"
#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/path.h"
#include "tensorflow/core/protobuf/trackable_object_graph.pb.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

namespace tfaot::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

absl::Status lookup(tf::BundleReader& reader, const std::string& key, tf::Tensor& value) {
  tf::DataType type;
  tf::TensorShape shape;
  auto status = reader.LookupDtypeAndShape(key, &type, &shape);
  if (!status.ok()) return status;
  value = tf::Tensor(type, shape);
  return reader.Lookup(key, &value);
}

// Objects are stored under their path in the object graph, which also knows the variables' names.
std::string key_of(tf::BundleReader& reader, const std::string& name) {
  tf::Tensor serialized;
  tf::TrackableObjectGraph objects;
  if (!lookup(reader, kObjectGraphKey, serialized).ok() ||
      !objects.ParseFromString(std::string(serialized.scalar<tf::tstring>()()))) {
    return name;  // TensorFlow 1: stored under the name itself
  }
  for (const auto& node : objects.nodes()) {
    for (const auto& attribute : node.attributes()) {
      if (attribute.full_name() == name) return attribute.checkpoint_key();
    }
  }
  return name;
}

}  // namespace

Result<tf::Tensor> checkpoint_value(const std::string& saved_model, const std::string& name) {
  tf::BundleReader reader(tf::Env::Default(),
                          tf::io::JoinPath(saved_model, tf::kSavedModelVariablesDirectory,
                                           tf::kSavedModelVariablesFilename));
  tf::Tensor value;
  auto status = reader.status();
  if (status.ok()) status = lookup(reader, key_of(reader, name), value);
  if (!status.ok()) return fail(error_of(status, fmt::format("variable '{}' has no value", name)));
  return value;
}

}  // namespace tfaot::engine
