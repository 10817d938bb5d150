// SPDX-License-Identifier: Apache-2.0
// The variables of a SavedModel on disk, each read separately: no session holds them all. Used by
// one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "graph/stored_tensor.h"
#include "tensorflow/core/protobuf/trackable_object_graph.pb.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

namespace tfaot::toolkit::engine {

class Checkpoint {
 public:
  // `saved_model` is the folder. Reads nothing yet.
  explicit Checkpoint(std::string saved_model) : saved_model_(std::move(saved_model)) {}

  // The value under a key; fails if there is none. Reading it compares checksums. The object must
  // outlive the result.
  Result<StoredTensor> value(const std::string& variable, const std::string& key);

  // The objects that were saved, with the keys of their variables. Of TensorFlow 1: none.
  const tensorflow::TrackableObjectGraph& objects();

 private:
  absl::Status open();

  std::string saved_model_;
  std::unique_ptr<tensorflow::BundleReader> reader_;
  std::optional<tensorflow::TrackableObjectGraph> objects_;
};

}  // namespace tfaot::toolkit::engine
