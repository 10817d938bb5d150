// SPDX-License-Identifier: Apache-2.0
// TensorFlow's and XLA's types in our terms: dtypes and statuses. Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "compiler/hlo/hlo.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/core/framework/types.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit::engine {

struct TensorFlowType {
  tensorflow::DataType of_tensorflow;
  DType dtype;
};
inline constexpr auto kTensorFlowTypes = std::to_array<TensorFlowType>({
    {tensorflow::DT_BOOL, DType::kBool},
    {tensorflow::DT_INT8, DType::kInt8},
    {tensorflow::DT_INT16, DType::kInt16},
    {tensorflow::DT_INT32, DType::kInt32},
    {tensorflow::DT_INT64, DType::kInt64},
    {tensorflow::DT_UINT8, DType::kUint8},
    {tensorflow::DT_UINT16, DType::kUint16},
    {tensorflow::DT_UINT32, DType::kUint32},
    {tensorflow::DT_UINT64, DType::kUint64},
    {tensorflow::DT_HALF, DType::kFloat16},
    {tensorflow::DT_BFLOAT16, DType::kBfloat16},
    {tensorflow::DT_FLOAT, DType::kFloat32},
    {tensorflow::DT_DOUBLE, DType::kFloat64},
});
static_assert(kTensorFlowTypes.size() == kWords<DType>.size());

// The dtypes that inputs, outputs and weights may have; nothing for all others.
inline std::optional<DType> dtype_of(tensorflow::DataType type) {
  for (const TensorFlowType& pair : kTensorFlowTypes) {
    if (pair.of_tensorflow == type) return pair.dtype;
  }
  return std::nullopt;
}
// DT_INVALID for types that TensorFlow does not have.
inline tensorflow::DataType tensorflow_type(xla::PrimitiveType type) {
  return tensorflow::EncodePrimitiveTypeAsDataType(type).value_or(tensorflow::DT_INVALID);
}
inline std::optional<DType> dtype_of(xla::PrimitiveType type) {
  return dtype_of(tensorflow_type(type));
}

inline tensorflow::DataType tensorflow_type(DType dtype) {
  const auto pair = std::ranges::find(kTensorFlowTypes, dtype, &TensorFlowType::dtype);
  return pair == kTensorFlowTypes.end() ? tensorflow::DT_INVALID : pair->of_tensorflow;
}

// "float16" for DT_HALF: the names users know from Python, not "half".
inline std::string type_name(tensorflow::DataType type) {
  const std::optional<DType> dtype = dtype_of(type);
  return dtype ? word_of(*dtype) : tensorflow::DataTypeString(type);
}

// Truth values of a file, one a byte: all but 0 become 1, since code takes 0 and 1 for granted.
inline void make_bools(char* bytes, std::size_t count) {
  std::transform(bytes, bytes + count, bytes,
                 [](char byte) { return static_cast<char>(byte == 0 ? 0 : 1); });
}

// TensorFlow's own message as a note: only the first line, because the others are stack frames.
inline std::string status_note(const absl::Status& status) {
  const std::string_view text = status.message();
  return "TensorFlow: " + std::string(text.substr(0, text.find('\n')));
}

inline Error error_of(const absl::Status& status, std::string message) {
  return Error(std::move(message)).note(status_note(status));
}
inline Status checked(const absl::Status& status, std::string message) {
  return status.ok() ? Status() : fail(error_of(status, std::move(message)));
}

}  // namespace tfaot::toolkit::engine
