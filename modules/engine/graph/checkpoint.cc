// SPDX-License-Identifier: Apache-2.0
#include "graph/checkpoint.h"

#include <fmt/format.h>

#include "lowering/conversions.h"
#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/path.h"

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
    if (type == tf::DT_BOOL) {
      make_bools(static_cast<char*>(read.data()), read.TotalBytes());
    }
    return read;
  };
  return value;
}

const tf::TrackableObjectGraph& Checkpoint::objects() {
  if (!objects_.has_value()) {
    objects_.emplace();
    tf::Tensor serialized(tf::DT_STRING, {});
    if (open().ok() && reader_->Lookup(kObjectGraphKey, &serialized).ok() &&
        !objects_->ParseFromString(std::string(serialized.scalar<tf::tstring>()()))) {
      objects_->Clear();
    }
  }
  return *objects_;
}

}  // namespace tfaot::toolkit::engine
