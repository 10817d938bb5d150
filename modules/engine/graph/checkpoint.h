// SPDX-License-Identifier: Apache-2.0
// The variables of a SavedModel on disk, each read separately: no session holds them all. Used by
// one thread.
#pragma once

#include <memory>
#include <string>

#include "graph/stored_tensor.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

namespace tfaot::toolkit::engine {

class Checkpoint {
 public:
  // `saved_model` is the folder. Reads nothing yet.
  explicit Checkpoint(std::string saved_model) : saved_model_(std::move(saved_model)) {}

  // The value under a key; fails if there is none. Reading it compares checksums. The object must
  // outlive the result.
  Result<StoredTensor> value(const std::string& variable, const std::string& key);

  // The key of a variable by its full name ("dense/kernel"), for models whose own restore
  // operations do not cover it: Keras 3 models saved by tf.saved_model.save() contain variables
  // that only Python's loader fills.
  std::string key_of(const std::string& variable);

 private:
  absl::Status open();

  std::string saved_model_;
  std::unique_ptr<tensorflow::BundleReader> reader_;
};

}  // namespace tfaot::toolkit::engine
