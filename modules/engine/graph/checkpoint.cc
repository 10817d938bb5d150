// SPDX-License-Identifier: Apache-2.0
#include "graph/checkpoint.h"

#include <fmt/format.h>

#include "lowering/conversions.h"
#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/path.h"
#include "tensorflow/core/protobuf/trackable_object_graph.pb.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

Error no_value(const absl::Status& status, const std::string& variable) {
  return error_of(status, fmt::format("variable '{}' has no value", variable));
}

}  // namespace

absl::Status Checkpoint::open() {
  if (reader_ == nullptr) {
    reader_ = std::make_unique<tf::BundleReader>(
        tf::Env::Default(), tf::io::JoinPath(saved_model_, tf::kSavedModelVariablesDirectory,
                                             tf::kSavedModelVariablesFilename));
  }
  return reader_->status();
}

Result<StoredTensor> Checkpoint::value(const std::string& variable, const std::string& key) {
  StoredTensor value;
  auto found = open();
  if (found.ok()) found = reader_->LookupDtypeAndShape(key, &value.type, &value.shape);
  if (!found.ok()) return fail(no_value(found, variable));
  value.read = [this, variable, key, type = value.type,
                shape = value.shape]() -> Result<tf::Tensor> {
    tf::Tensor read(type, shape);
    const auto status = reader_->Lookup(key, &read);
    if (!status.ok()) return fail(no_value(status, variable));
    return read;
  };
  return value;
}

// Objects are stored under their path in the object graph, which also contains the variables'
// names.
std::string Checkpoint::key_of(const std::string& variable) {
  tf::Tensor serialized(tf::DT_STRING, {});
  tf::TrackableObjectGraph objects;
  if (!open().ok() || !reader_->Lookup(kObjectGraphKey, &serialized).ok() ||
      !objects.ParseFromString(std::string(serialized.scalar<tf::tstring>()()))) {
    return variable;  // TensorFlow 1: stored under the name itself
  }
  for (const auto& node : objects.nodes()) {
    for (const auto& attribute : node.attributes()) {
      if (attribute.full_name() == variable) return attribute.checkpoint_key();
    }
  }
  return variable;
}

}  // namespace tfaot::toolkit::engine
