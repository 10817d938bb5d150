// SPDX-License-Identifier: Apache-2.0
// TensorFlow's types in our terms: dtypes and statuses. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tensorflow/core/framework/types.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit::engine {

// The dtypes that inputs and outputs may have; nothing for all others.
inline std::optional<DType> dtype_of(tensorflow::DataType type) {
  switch (type) {
    case tensorflow::DT_BOOL:
      return DType::kBool;
    case tensorflow::DT_INT32:
      return DType::kInt32;
    case tensorflow::DT_INT64:
      return DType::kInt64;
    case tensorflow::DT_FLOAT:
      return DType::kFloat32;
    case tensorflow::DT_DOUBLE:
      return DType::kFloat64;
    default:
      return std::nullopt;
  }
}

// "float16" for DT_HALF: the names users know from Python, not "half".
inline std::string type_name(tensorflow::DataType type) {
  if (type == tensorflow::DT_HALF) return "float16";
  const std::optional<DType> dtype = dtype_of(type);
  return dtype ? word_of(*dtype) : tensorflow::DataTypeString(type);
}

// TensorFlow's own message as a note: only the first line, because the others are stack frames.
inline std::string status_note(const absl::Status& status) {
  const std::string_view text = status.message();
  return "TensorFlow: " + std::string(text.substr(0, text.find('\n')));
}

inline Error error_of(const absl::Status& status, std::string message) {
  return Error(std::move(message)).note(status_note(status));
}

}  // namespace tfaot::toolkit::engine
